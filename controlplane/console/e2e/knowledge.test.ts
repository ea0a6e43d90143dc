import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { LoginsView } from '#controlplane/console/views/knowledge.ts';
import type { Counters } from '#controlplane/knowledge/knowledge.ts';
import { getJson, request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { logIn, newPage, startBrowser, whyNoBrowser } from '../../../ext-authz/e2e/browser.ts';
import { openPage } from './open-page.ts';

describe('the console shows what the services know:', { skip: whyNoBrowser() }, () => {
  let system: System;
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
    system = await startSystem({ demo: true });
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

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
