import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import express from 'express';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { pino } from 'pino';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { openFigures } from '#controlplane/figures/open-figures.ts';
import { openKnowledge } from '#controlplane/knowledge/knowledge.ts';
import type { Status } from '#controlplane/status/status.ts';
import { after } from '#process/after.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { type Console, type ConsoleParts, openConsole } from './console.ts';

const STATUS: Status = {
  ready: true,
  resources: [],
  problems: [],
  proxies: [],
  certificates: [],
};

async function serve(
  t: TestContext,
  some: Partial<ConsoleParts> = {},
  resources = toResourceSet([], []),
): Promise<{ base: string; opened: Console }> {
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
      resources: () => resources,
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
    ...some,
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

test('a quiet stream says every 15 s that it is there', async t => {
  const waiting = new Map<number, () => void>();
  const { base } = await serve(t, {
    after: (ms, callback) => {
      waiting.set(ms, callback);
      return () => {};
    },
  });
  const { body } = await fetch(`${base}/events`);
  const reader = body?.getReader();
  const read = async () => new TextDecoder().decode((await reader?.read())?.value);
  assert.match(await read(), /event: changed/);
  for (let time = 0; time < 2; time += 1) {
    waiting.get(15_000)?.();
    assert.equal(await read(), 'event: here\ndata: 0\n\n');
  }
  await reader?.cancel();
});

const LOGIN = `apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: console }
spec:
  OAuth2:
    authorizationURL: https://login.example.com
    clientID: me
    secret: s
    protectedOrigins: [{ origin: "https://gateway.example.com" }]
`;

/** Serves a provider's keys, and returns what signs its tokens. */
async function openIssuer(t: TestContext) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }];
  const server = http.createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    const answer = request.url === '/keys' ? { keys } : { issuer, jwks_uri: `${issuer}/keys` };
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign = (seconds: number) =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer(issuer)
      .setAudience('me')
      .setSubject('ada')
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(privateKey);
  return { issuer, sign };
}

test('an expired token is answered in words, and a page leads to a new login', async t => {
  const { issuer, sign } = await openIssuer(t);
  const viewers = [{ name: 'sub', value: 'ada' }];
  const config = { issuer, audience: 'me', viewers, operators: [] };
  const { base } = await serve(t, { config }, resourceSetOf(LOGIN).resources);
  const ask = async (path: string, seconds: number, accept: string) => {
    const headers = { 'x-console-token': await sign(seconds), accept };
    // Node's fetch says of itself that it shows no page.
    const [answer] = (await once(http.get(base + path, { headers }), 'response')) as [
      http.IncomingMessage,
    ];
    return { status: answer.statusCode, text: await text(answer) };
  };
  assert.equal((await ask('/', 60, 'text/html')).status, 200);
  const page = await ask('/routes?sort=rate', -60, 'text/html');
  assert.equal(page.status, 401);
  assert.match(page.text, /ends before the session/);
  assert.match(
    page.text,
    /"https:\/\/gateway\.example\.com\/\.gateway\/oauth2\/login\?realm=console\.default&amp;return=[^"]+%2Fconsole%2Froutes%3Fsort%3Drate"/,
  );
  const view = await ask('/api/overview', -60, '*/*');
  assert.equal(view.status, 401);
  assert.match((JSON.parse(view.text) as { error: string }).error, /docs\/how-to\/console\.md/);
});
