import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extAuthzPart, type Layout, rateLimitPart } from './parts.ts';

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
