import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  document,
  type LimitedSystem,
  limits,
  patientService,
  startLimited,
} from '#ratelimit-service/e2e/limited-system.ts';
import { request } from './request.ts';
import { until } from './until.ts';

const object = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const CLIENT = { client: { header: 'X-Client' } };
const USER = { user: { header: 'X-User' } };

const forShop = (limits: readonly object[]) =>
  document('RateLimit', 'shop', { targetRefs: [{ kind: 'HTTPRoute', name: 'shop' }], limits });

/** It lets nobody pass who says both. Its pattern leaves the user open. */
const CLOSED = forShop([
  { labels: [CLIENT, USER], pattern: [{ client: '*' }], rate: 0, unit: 'hour' },
]);
/** Of two patterns that match, the longer one would win. */
const WIDE = limits('wide', [
  {
    pattern: [{ generic_key: '*' }, { client: '*' }, { user: '*' }],
    rate: 1_000_000,
    unit: 'hour',
  },
]);

describe('a limit for a route', () => {
  let system: LimitedSystem;
  before(async () => {
    system = await startLimited(({ rateLimit }) => ({ 'service.yaml': patientService(rateLimit) }));
    const port = system.upstream.port;
    system.write(
      'site.yaml',
      [
        object('GatewayClass', 'gateway', 'controllerName: gateway.internal/gateway-controller'),
        object(
          'Gateway',
          'site',
          `gatewayClassName: gateway, listeners: [{name: l, port: ${system.freePort(1)}, protocol: HTTP}]`,
        ),
        object(
          'HTTPRoute',
          'shop',
          `parentRefs: [{name: site}], rules: [{backendRefs: [{name: localhost, port: ${port}}]}]`,
        ),
      ].join(''),
    );
  });
  after(() => system.stop());

  const ask = async (headers: Readonly<Record<string, string>>) =>
    (await request(`http://127.0.0.1:${system.freePort(1)}`, '/', { headers })).status;

  test('is lifted by no pattern of others for any value', async () => {
    const both = { 'x-client': 'a', 'x-user': 'b' };
    await until(async () => (await ask(both).catch(() => 0)) === 200 || undefined);
    system.write('limits.yaml', WIDE + CLOSED);
    await until(async () => (await ask(both)) === 429 || undefined);
    assert.equal(await ask({ 'x-client': 'a' }), 200, 'it has no such label group');
  });

  test('goes on counting where another limit is put before it', async () => {
    const headers = { 'x-user': 'b' };
    const once = { labels: [USER], rate: 1, unit: 'day' };
    const none = { labels: [CLIENT], rate: 0, unit: 'day' };
    system.write('limits.yaml', forShop([once]));
    await until(async () => (await ask(headers)) === 429 || undefined);
    system.write('limits.yaml', forShop([none, once]));
    await until(async () => (await ask({ 'x-client': 'a' })) === 429 || undefined);
    assert.equal(await ask(headers), 429);
  });
});
