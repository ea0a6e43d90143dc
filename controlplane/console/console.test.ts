import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import express from 'express';
import { pino } from 'pino';
import { openFigures } from '#controlplane/figures/open-figures.ts';
import { openKnowledge } from '#controlplane/knowledge/knowledge.ts';
import type { Status } from '#controlplane/status/status.ts';
import { after } from '#process/after.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { type Console, openConsole } from './console.ts';

const STATUS: Status = {
  ready: true,
  resources: [],
  problems: [],
  proxies: [],
  certificates: [],
};

async function serve(t: TestContext): Promise<{ base: string; opened: Console }> {
  const log = pino({ level: 'silent' });
  const { figures } = openFigures({
    connected: () => [],
    replicated: false,
    on: false,
    refuse: () => undefined,
    failed: assert.fail,
    now: Date.now,
    after,
  });
  const nowhere = { host: '127.0.0.1', port: 1 };
  const knowledge = openKnowledge({ extAuthz: nowhere, rateLimit: nowhere, sds: nowhere });
  t.after(() => knowledge.close());
  const opened = openConsole({
    facts: {
      status: () => STATUS,
      resources: () => toResourceSet([], []),
      options: {
        edge: { host: '127.0.0.1', port: 1 },
        sds: { host: '127.0.0.1', port: 1 },
        rateLimit: { host: '127.0.0.1', port: 1 },
        extAuthz: { host: '127.0.0.1', port: 1 },
      },
      figures,
      changes: () => [],
      knowledge,
      drained: () => [],
      edgeOf: () => ({ addresses: [], missing: [] }),
      explain: async () => {
        throw new Error('that is no URL');
      },
      diff: () => undefined,
    },
    orders: {
      ...{ do: () => assert.fail(), drain: () => assert.fail('no sds is there') },
      share: async () => {},
    },
    log,
    config: 'open',
    now: Date.now,
    after,
  });
  const server = http.createServer(express().use('/console', opened.router));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    opened.close();
    server.close();
    server.closeAllConnections();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/console`, opened };
}

test('every screen is one page, which may load our own files alone', async t => {
  const { base } = await serve(t);
  for (const path of ['/', '/routes', '/route?id=x', '/change']) {
    const answer = await fetch(base + path);
    assert.equal(answer.status, 200, path);
    const policy = answer.headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "trusted-types 'none'",
    ])
      assert.ok(policy.includes(part), part);
    assert.doesNotMatch(policy, /unsafe|http:|\*/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin');
    const page = await answer.text();
    assert.doesNotMatch(page, /(?:src|href)="(?!\/console\/|\/status|data:)/);
  }
  const short = await fetch(base, { redirect: 'manual' });
  assert.deepEqual([short.status, short.headers.get('location')], [308, '/console/']);
});

test('files of the list are served, once, and no others', async t => {
  const { base } = await serve(t);
  const page = await (await fetch(`${base}/`)).text();
  const names = [...page.matchAll(/(?:src|href)="\/console(\/assets\/[^"]+)"/g)].map(
    ([, name]) => name,
  );
  assert.ok(names.length > 20, String(names.length));
  for (const name of names) {
    const answer = await fetch(base + name);
    const text = await answer.text();
    assert.equal(answer.status, 200, name);
    assert.doesNotMatch(text, /^import type/m, name);
    const again = await fetch(base + name, {
      headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
    });
    assert.equal(again.status, 304, name);
  }
  for (const name of [
    'tsconfig.json',
    'page.html',
    '../guard.ts',
    '..%2fguard.ts',
    '%2e%2e/guard.ts',
    'main.js',
    '__proto__',
    '',
  ])
    assert.equal((await fetch(`${base}/assets/${name}`)).status, 404, name);
});

test('views answer whatever is asked of them', async t => {
  const { base } = await serve(t);
  const odd = [
    '',
    '?id=',
    '?id=__proto__',
    '?id[a]=1',
    '?offset=-1&limit=x',
    `?search=${'x'.repeat(5_000)}`,
    '?status=abc',
  ];
  for (const view of [
    'overview',
    'routes',
    'services',
    'traffic',
    'security',
    'limits',
    'certificates',
    'proxies',
  ])
    for (const query of odd)
      assert.equal((await fetch(`${base}/api/${view}${query}`)).status, 200, view + query);
  for (const view of ['route', 'service', 'configuration', 'none', '__proto__'])
    for (const query of odd)
      assert.equal((await fetch(`${base}/api/${view}${query}`)).status, 404, view + query);
  const etag = (await fetch(`${base}/api/overview`)).headers.get('etag') ?? '';
  assert.equal(
    (await fetch(`${base}/api/overview`, { headers: { 'if-none-match': etag } })).status,
    304,
  );
});

test('questions that are wrong are answered in words', async t => {
  const { base } = await serve(t);
  const ask = async (name: string, body: string) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${base}/api/${name}`, { method: 'POST', headers, body });
    return [answer.status, ((await answer.json()) as { error: string }).error];
  };
  const question = { method: 'GET', url: ':', headers: [], from: '::1', nodeGroup: 'edge' };
  assert.deepEqual(await ask('explain', JSON.stringify(question)), [400, 'that is no URL']);
  assert.deepEqual(await ask('explain', '{}'), [400, 'want a request to explain']);
  assert.deepEqual(await ask('change', '{"files":[]}'), [
    400,
    'too many questions wait, ask again',
  ]);
  assert.deepEqual(await ask('change', '{'), [400, 'want JSON']);
  const drain = { address: '::1', port: 1, drained: true };
  assert.equal((await ask('drain', JSON.stringify(drain)))[0], 409, 'it must be confirmed');
  const confirmed = JSON.stringify({ ...drain, confirmed: true });
  assert.deepEqual(await ask('drain', confirmed), [400, 'no sds is there']);
});

test('hints come soon after a change, to a bounded number of browsers', async t => {
  const { base, opened } = await serve(t);
  const streams = await Promise.all(Array.from({ length: 64 }, () => fetch(`${base}/events`)));
  assert.deepEqual([...new Set(streams.map(({ status }) => status))], [200]);
  assert.equal((await fetch(`${base}/events`)).status, 503);
  const reader = streams[0]?.body?.getReader();
  const read = async () => new TextDecoder().decode((await reader?.read())?.value);
  assert.match(await read(), /event: changed/);
  for (let time = 0; time < 100; time += 1) opened.changed();
  assert.equal(await read(), 'event: changed\ndata: 1\n\n');
  await Promise.all(streams.slice(1).map(({ body }) => body?.cancel()));
  await reader?.cancel();
});
