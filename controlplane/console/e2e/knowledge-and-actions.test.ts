import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { Acted } from '#controlplane/console/act.ts';
import type { LoginsView } from '#controlplane/console/views/knowledge.ts';
import type { ProxyRow } from '#controlplane/console/views/proxies.ts';
import type { Counters } from '#controlplane/knowledge/knowledge.ts';
import { getJson, request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { logIn, newPage, startBrowser, whyNoBrowser } from '../../../ext-authz/e2e/browser.ts';
import { openPage } from './open-page.ts';

/** No request goes this way, so that the service by this name is idle. */
const IDLE = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: idle }
spec: { prefix: /idle/, service: "user-service:80", resolver: sds }
`;

const skip = whyNoBrowser();
let system: System;
let browser: Browser;
before(async () => {
  if (skip) return;
  browser = await startBrowser();
  system = await startSystem({ demo: true, instances: 2 });
});
after(async () => {
  await browser?.close();
  await system?.stop();
});

describe('the console shows what the services know:', { skip }, () => {
  const base = () => `http://127.0.0.1:${system.ports.http}`;
  const view = <T>(name: string) => getJson<T>(base(), `/console/api/${name}`);

  test('who is logged in, and whose keys are in force, until the sessions end', async t => {
    const ada = await newPage(t, browser);
    await logIn(ada, `${system.edge}/account`, 'ada', 'difference');
    const page = await openPage(t, browser, `${base()}/console/security`);
    const row = page.locator('tr', { has: page.getByRole('button', { name: 'End', exact: true }) });
    await row.getByText('ada').first().waitFor();
    await page.getByText('ES256').or(page.getByText('RS256')).first().waitFor();
    const text = JSON.stringify(await view('logins'));
    for (const { name, value } of await ada.context().cookies())
      assert.ok(value.length < 20 || !text.includes(value), `the value of ${name} is shown`);
    assert.doesNotMatch(text, /eyJ/, 'no token is shown');
    await row.getByRole('button', { name: 'End', exact: true }).click();
    await until(async () => {
      const { sessions } = await view<LoginsView>('logins');
      return (
        ('filters' in sessions && sessions.filters.every(each => each.count === 0)) || undefined
      );
    });
    const answer = await ada.request.get(`${system.edge}/account/api/x`);
    assert.equal(answer.status(), 401);
  });

  test('the counters of limits, with their highest keys', async t => {
    const post = async () => (await request(system.edge, '/user/none', { method: 'POST' })).status;
    await until(async () => (await post()) === 429 || undefined);
    const counters = await until(async () => {
      const found = await view<Counters>('counters');
      return found.limits.find(({ over }) => over > 0);
    });
    const [highest] = counters.keys;
    assert.ok(highest !== undefined && highest.count > 1);
    assert.ok(
      highest.labels.some(({ key, value }) => key === 'remote_address' && value === '127.0.0.1'),
    );
    const page = await openPage(t, browser, `${base()}/console/limits`);
    await page.getByText('remote_address=127.0.0.1').first().waitFor();
  });
});

describe('the console acts', { skip }, () => {
  const at = (path: string) => `http://127.0.0.1:${system.ports.http}/console/${path}`;
  const logOf = (part: string) => readFileSync(join(system.state, 'logs', `${part}.log`), 'utf8');

  const hosts = async () => {
    const { body } = await request(`http://127.0.0.1:${system.ports.edgeAdmin}`, '/clusters');
    const found = body.matchAll(/^user-service[^:\n]*::([\d.]+:\d+)::rq_total/gm);
    return new Set([...found].map(([, address]) => address)).size;
  };
  const get = async () => (await request(system.edge, '/user/health')).status;

  test('an idle instance that is drained gets no requests, and then some again', async t => {
    system.write('idle.yaml', IDLE);
    await system.statusWhen(({ resources }) =>
      resources.some(({ id, state }) => id === 'Mapping/default/idle' && state === 'in force'),
    );
    const page = await openPage(t, browser, at('service?name=user-service:80'));
    await page.getByText('idle').nth(1).waitFor();
    assert.equal(await hosts(), 2);
    await page.getByRole('button', { name: 'Drain' }).first().click();
    await page.getByText('no proxy gets the instance any more').waitFor();
    await until(async () => (await hosts()) === 1 || undefined);
    for (let time = 0; time < 20; time += 1) assert.equal(await get(), 200);
    await page.getByRole('button', { name: 'Serve again' }).click();
    await page.getByText('the proxies get the instance again').waitFor();
    await until(async () => (await hosts()) === 2 || undefined);
    assert.match(logOf('controlplane'), /"actor":"somebody on this machine","action":"drain"/);
  });

  test('the last instance in rotation is drained only once that is confirmed, too', async t => {
    const page = await openPage(t, browser, at('service?name=user-service'));
    const drain = page.getByRole('button', { name: 'Drain' });
    await drain.first().click();
    await page.getByRole('button', { name: 'Serve again' }).waitFor();
    const asked: string[] = [];
    page.removeAllListeners('dialog');
    page.on('dialog', dialog => {
      asked.push(dialog.message());
      void (asked.length === 2 ? dialog.dismiss() : dialog.accept());
    });
    await drain.click();
    await page.getByText('Nothing was done.').waitFor();
    assert.match(asked[1] ?? '', /^No instance of user-service would stay in rotation/);
    assert.equal(await get(), 200);
    await drain.click();
    await until(async () => (await get()) === 503 || undefined);
    for (const button of [1, 0])
      await page.getByRole('button', { name: 'Serve again' }).nth(button).click();
    await until(async () => (await hosts()) === 2 || undefined);
    await until(async () => (await get()) === 200 || undefined);
  });

  test('what a service cannot do is told, and what discovery does not know is not drained', async () => {
    const base = `http://127.0.0.1:${system.ports.http}`;
    const send = (path: string, body: object) =>
      request(base, `/console/api/${path}`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify(body),
      });
    const { body } = await send('end-sessions', { filter: 'default/none', user: 'ada' });
    const [answer, ...others] = (JSON.parse(body) as Acted).answers;
    assert.deepEqual([answer?.outcome, others], ['failed', []]);
    assert.match(answer?.text ?? '', /no Filter default\/none logs users in/);
    const unknown = await send('drain', { address: '127.0.0.1', port: 1, drained: true });
    assert.equal(unknown.status, 400);
    assert.match(unknown.body, /knows no instance at 127\.0\.0\.1:1/);
  });

  test('a counter that is reset lets its client in again', async t => {
    const post = async () => (await request(system.edge, '/user/none', { method: 'POST' })).status;
    const page = await openPage(t, browser, at('limits'));
    const key = page.getByRole('listitem').filter({ hasText: 'method=POST' });
    // A minute may end meanwhile, and with it the counter.
    await until(async () => {
      const isRejected = (await post()) === 429;
      return (isRejected && (await key.getByText('over').isVisible())) || undefined;
    });
    await key.getByText('generic_key=users, method=POST, remote_address=127.0.0.1').waitFor();
    await key.getByRole('button', { name: 'Reset' }).click();
    await page.getByText('1 counter begins again').waitFor();
    await until(async () => (await post()) !== 429 || undefined);
    assert.match(logOf('ratelimit-service'), /counters begin again/);
    assert.doesNotMatch(logOf('controlplane'), /remote_address=|"value"/);
  });

  test('a user whose sessions end has to log in again, and others go on', async t => {
    const loggedIn = async (name: string, password: string) => {
      const page = await newPage(t, browser);
      await logIn(page, `${system.edge}/account`, name, password);
      return page;
    };
    const ada = [await loggedIn('ada', 'difference'), await loggedIn('ada', 'difference')];
    const grace = await loggedIn('grace', 'nanosecond');
    const page = await openPage(t, browser, at('security'));
    await page.getByLabel('User, the claim sub').fill('ada');
    await page.getByRole('button', { name: 'End', exact: true }).nth(2).waitFor();
    await page.getByRole('button', { name: 'End sessions' }).click();
    await page.getByText('2 sessions have ended').waitFor();
    for (const each of ada)
      await until(async () => {
        const answer = await each.request.get(`${system.edge}/account/api/x`);
        return answer.status() === 401 || undefined;
      });
    assert.notEqual((await grace.request.get(`${system.edge}/account/api/x`)).status(), 401);
    assert.match(logOf('ext-authz'), /"sessions":2,/);
  });

  test('does nothing for other sites, and nothing that makes no sense', async () => {
    const base = `http://127.0.0.1:${system.ports.http}`;
    const send = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const sent = { 'content-type': 'application/json', ...headers };
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return (
        await request(base, `/console/api/${path}`, { method: 'POST', headers: sent, body: text })
      ).status;
    };
    const drain = { address: '127.0.0.1', port: 1, drained: false };
    const none = { filter: 'default/none', user: 'ada' };
    assert.equal(await send('end-sessions', none), 200);
    assert.equal(await send('drain', drain), 400, 'it is not drained');
    const sites = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { host: 'evil.example' },
    ];
    for (const headers of sites)
      assert.equal(await send('end-sessions', none, headers), 403, JSON.stringify(headers));
    assert.equal(
      await send('end-sessions', JSON.stringify(none), { 'content-type': 'text/plain' }),
      400,
    );
    const wrong: readonly (readonly [string, unknown])[] = [
      ['drain', {}],
      ['drain', ''],
      ['drain', 'null'],
      ['drain', '[]'],
      ['drain', { ...drain, address: 'localhost' }],
      ['drain', { ...drain, address: '' }],
      ['drain', { ...drain, port: 0 }],
      ['drain', { ...drain, port: 65_536 }],
      ['drain', { ...drain, port: '80' }],
      ['drain', { ...drain, drained: 'no' }],
      ['end-sessions', {}],
      ['end-sessions', { filter: 'default/login', user: '' }],
      ['end-sessions', { filter: ['default/login'], user: 'ada' }],
      ['end-sessions', { filter: 'default/login', user: 'x'.repeat(1_001) }],
      ['reset-counter', { domain: 'gateway', labels: [] }],
      ['reset-counter', { domain: 'gateway', labels: [null] }],
      ['reset-counter', { domain: 'gateway', labels: {} }],
      ['reset-counter', { domain: '', labels: [{ key: 'a', value: 'b' }] }],
      ['reset-counter', { domain: 'g', labels: Array(21).fill({ key: 'a', value: 'b' }) }],
      ['reset-counter', { domain: 'g', labels: [{ key: '__proto__' }] }],
    ];
    for (const [path, body] of wrong)
      assert.equal(await send(path, body), 400, JSON.stringify(body));
    assert.equal(await send('end-sessions', 'x'.repeat(2 ** 20 + 1)), 413);
    assert.equal((await request(base, '/readyz')).status, 200);
  });
});

test('the console says that proxies have kept what is in force over a restart of the control plane', {
  skip,
}, async t => {
  const base = `http://127.0.0.1:${system.ports.http}`;
  await system.kill('controlplane');
  const isThere = () =>
    getJson<{ readonly items: readonly ProxyRow[] }>(base, '/console/api/proxies');
  await until(async () => {
    const view = await isThere().catch(() => undefined);
    return view?.items.some(({ node, word }) => node === 'edge' && word === 'in sync') || undefined;
  });
  const page = await openPage(t, browser, `${base}/console/proxies?search=edge`);
  const row = page.locator('tbody tr').first();
  await row.getByText('in sync').waitFor();
  assert.match(await row.innerText(), /none since it connected\s+Cluster unchanged/);
});
