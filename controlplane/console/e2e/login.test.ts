import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { claimPortOffset, type PortOffset } from '#envoy/e2e/port-offset.ts';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { portsAt } from '#launcher/ports.ts';
import { logIn, newPage, startBrowser, whyNoBrowser } from '../../../ext-authz/e2e/browser.ts';

const PUBLISHED = (port: number) => `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: console }
spec: { prefix: /console/, rewrite: "", service: "127.0.0.1:${port}", timeout_ms: 0 }
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: console }
spec:
  rules:
    - path: /console*
      filters:
        - { name: login, arguments: { scope: [openid, profile, email, "users:read"] } }
`;

describe('behind a login, the console', { skip: whyNoBrowser() }, () => {
  let port: PortOffset;
  let system: System;
  let browser: Browser;

  before(async () => {
    browser = await startBrowser();
    port = await claimPortOffset();
    const environment = {
      CONSOLE: 'login',
      CONSOLE_ISSUER: `http://127.0.0.1:${portsAt(port.offset).identityProvider}`,
      CONSOLE_AUDIENCE: 'urn:gateway:user-service',
      CONSOLE_VIEWERS: 'sub=ada',
    };
    system = await startSystem({ demo: true, port, environment });
    system.write('console.yaml', PUBLISHED(system.ports.http));
    await system.statusWhen(({ resources }) =>
      resources.some(({ id, state }) => id === 'Mapping/default/console' && state === 'in force'),
    );
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
    port?.release();
  });

  const consoleOf = async (t: TestContext, name: string, password: string) => {
    const page = await newPage(t, browser);
    await logIn(page, `${system.edge}/console/`, name, password);
    return page;
  };

  test('shows itself to those who may see it, live', async t => {
    const page = await consoleOf(t, 'ada', 'difference');
    await page.getByText('Latest changes').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    system.write('more.yaml', PUBLISHED(9).split('---')[0]?.replaceAll('console', 'more') ?? '');
    await page.getByText('added Mapping more').waitFor();
    const status = await page.evaluate(`fetch('/console/api/drain', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ address: '127.0.0.1', port: 1, drained: true }),
    }).then(answer => answer.status)`);
    assert.equal(status, 403, 'who may look may not act');
  });

  test('shows nothing to other users', async t => {
    const page = await consoleOf(t, 'grace', 'nanosecond');
    await page.getByText('your account may not see the console').waitFor();
  });

  test('shows nothing beside the edge, whatever is sent', async () => {
    const base = `http://127.0.0.1:${system.ports.http}`;
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const all = Buffer.from('{"sub":"ada","aud":"urn:gateway:user-service"}').toString('base64url');
    const sent: readonly Record<string, string>[] = [
      {},
      { authorization: '' },
      { authorization: 'Bearer ' },
      { authorization: 'Bearer x' },
      { authorization: 'Basic YWRhOmRpZmZlcmVuY2U=' },
      { authorization: `Bearer ${none}.${all}.` },
      { 'x-console-token': `${none}.${all}.` },
      { 'x-console-token': 'x'.repeat(15_000) },
      { 'x-user': 'ada' },
    ];
    for (const headers of sent)
      for (const path of [
        '/console/',
        '/console/api/overview',
        '/console/events',
        '/console/assets/main.ts',
      ])
        assert.equal((await request(base, path, { headers })).status, 401, JSON.stringify(headers));
    assert.equal((await request(base, '/readyz')).status, 200);
  });
});
