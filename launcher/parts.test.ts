import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlplanePart, extAuthzPart, type Layout, rateLimitPart, sdsPart } from './parts.ts';
import { portsAt } from './ports.ts';

const PORTS = { rateLimit: 1, extAuthz: 2, xds: 3 };

test('counters are where sessions are, unless COUNTERS_REDIS_URL says otherwise', () => {
  const REDIS_URL = 'redis://sessions:6379';
  const partsOf = (environment: Layout['environment']) => {
    const layout = {
      node: 'node',
      state: { path: '/state' },
      ports: PORTS,
      environment,
    };
    const limits = rateLimitPart(layout as unknown as Layout);
    const logins = extAuthzPart(layout as unknown as Layout);
    return [limits, logins].map(({ env }) => ({ ...environment, ...env }).REDIS_URL);
  };
  assert.deepEqual(partsOf({}), [undefined, undefined]);
  assert.deepEqual(partsOf({ REDIS_URL }), [REDIS_URL, REDIS_URL]);
  const own = { COUNTERS_REDIS_URL: 'redis://counters:6379' };
  assert.deepEqual(partsOf({ REDIS_URL, ...own }), ['redis://counters:6379', REDIS_URL]);
  assert.deepEqual(partsOf(own), ['redis://counters:6379', undefined]);
});

test('HTTP_ADDRESS of the environment counts for no part, since all would want that port', () => {
  const environment = { HTTP_ADDRESS: '127.0.0.1:8878' };
  const state = { path: '/state', resources: '/state/resources' };
  const layout = { node: 'node', resources: '/resources', state, ports: portsAt(0), environment };
  const addresses = [controlplanePart, sdsPart, rateLimitPart, extAuthzPart].map(part => {
    const { env } = part(layout as unknown as Layout);
    return { ...environment, ...env }.HTTP_ADDRESS;
  });
  assert.deepEqual(addresses, ['127.0.0.1:8877', '', '', '']);
});

test('the edge listens on the loopback, or where EDGE_ADDRESS says, which the demo leaves out', () => {
  const addressesOf = (demo: boolean, environment: Layout['environment']) => {
    const state = { path: '/state', resources: '/state/resources' };
    const ports = { edge: 80, edgeTls: 443 };
    const layout = { node: 'node', resources: '/resources', state, ports, demo, environment };
    const { env } = controlplanePart(layout as unknown as Layout);
    return [env?.EDGE_ADDRESS, env?.EDGE_TLS_ADDRESS];
  };
  const loopback = ['127.0.0.1:80', '127.0.0.1:443'];
  const own = { EDGE_ADDRESS: '0.0.0.0:80', EDGE_TLS_ADDRESS: '0.0.0.0:443' };
  assert.deepEqual(addressesOf(false, {}), loopback);
  assert.deepEqual(addressesOf(false, { EDGE_ADDRESS: '', EDGE_TLS_ADDRESS: '' }), loopback);
  assert.deepEqual(addressesOf(false, own), ['0.0.0.0:80', '0.0.0.0:443']);
  assert.deepEqual(addressesOf(true, own), loopback);
});
