import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { logIn, newPage, startBrowser, whyNoBrowser } from '../../../ext-authz/e2e/browser.ts';
import { openPage } from './open-page.ts';

describe('the console acts', { skip: whyNoBrowser() }, () => {
  let system: System;
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
    system = await startSystem({ demo: true, instances: 2 });
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const at = (path: string) => `http://127.0.0.1:${system.ports.http}/console/${path}`;
  const logOf = (part: string) => readFileSync(join(system.state, 'logs', `${part}.log`), 'utf8');

  test('an instance that is drained gets no more requests, and then some again', async t => {
    const get = () => request(system.edge, '/user/health');
    const page = await openPage(t, browser, at('service?name=user-service'));
    const instances = page.getByRole('button', { name: 'Drain' });
    // One request of ten is sampled.
    await until(async () => {
      assert.equal((await get()).status, 200);
      return (await instances.count()) === 2 || undefined;
    });
    const hosts = async () => {
      const { body } = await request(`http://127.0.0.1:${system.ports.edgeAdmin}`, '/clusters');
      return new Set(body.match(/^user-service[^:\n]*::[\d.]+:\d+(?=::rq_total)/gm)).size;
    };
    assert.equal(await hosts(), 2);
    await instances.first().click();
    await until(async () => (await hosts()) === 1 || undefined);
    for (let time = 0; time < 20; time += 1) assert.equal((await get()).status, 200);
    await page.getByRole('button', { name: 'Serve again' }).click();
    await until(async () => (await hosts()) === 2 || undefined);
    assert.match(logOf('controlplane'), /"actor":"somebody on this machine","action":"drain"/);
  });

  test('a counter that is reset lets its client in again', async t => {
    const post = async () => (await request(system.edge, '/user/none', { method: 'POST' })).status;
    await until(async () => (await post()) === 429 || undefined);
    const page = await openPage(t, browser, at('limits'));
    await page.getByLabel('method').fill('POST');
    await page.getByLabel('remote_address').fill('127.0.0.1');
    await page.getByText('generic_key=users, method=POST, remote_address=127.0.0.1').waitFor();
    await page.getByRole('button', { name: 'Reset' }).last().click();
    await page.getByText('Ordered. The counter begins again.').waitFor();
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
    await page.getByText('Latest logins').waitFor();
    await page.getByRole('button', { name: 'End sessions' }).nth(3).waitFor();
    await page.getByRole('button', { name: 'End sessions' }).first().click();
    await page.getByText('Ordered. The user has to log in again.').waitFor();
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
    assert.equal(await send('drain', drain), 200);
    const sites = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { host: 'evil.example' },
    ];
    for (const headers of sites)
      assert.equal(await send('drain', drain, headers), 403, JSON.stringify(headers));
    assert.equal(await send('drain', JSON.stringify(drain), { 'content-type': 'text/plain' }), 400);
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
