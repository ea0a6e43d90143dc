import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toFieldNames, toJsonNames } from './json-names.ts';

const REQUEST = 'envoy.service.ratelimit.v3.RateLimitRequest';
const RESPONSE = 'envoy.service.ratelimit.v3.RateLimitResponse';

test('camelCase and snake_case are both read', () => {
  const descriptors = [{ entries: [{ key: 'hitsAddend', value: 'a' }], hitsAddend: '1' }];
  assert.deepEqual(toFieldNames(REQUEST, { domain: 'd', descriptors, hits_addend: 2 }), {
    domain: 'd',
    descriptors: [{ entries: [{ key: 'hitsAddend', value: 'a' }], hits_addend: '1' }],
    hits_addend: 2,
  });
});

test('an enum is read by number, too', () => {
  const descriptors = (unit: unknown) => [{ limit: { requestsPerUnit: 1, unit } }] as never;
  const read = (unit: unknown) =>
    toFieldNames(REQUEST, { descriptors: descriptors(unit) }).descriptors;
  const wanted = (unit: unknown) => [{ limit: { requests_per_unit: 1, unit } }];
  assert.deepEqual(read(2), wanted('MINUTE'));
  assert.deepEqual(read('MINUTE'), wanted('MINUTE'));
  assert.deepEqual(read(77), wanted(77));
});

test('what is no field stays as it is, for the encoder to name it', () => {
  assert.deepEqual(toFieldNames(REQUEST, { hits__addend: 1, __proto__x: 2 }), {
    hits__addend: 1,
    __proto__x: 2,
  });
});

test('answers are written in camelCase, free-form structs as they are', () => {
  const written = toJsonNames(RESPONSE, {
    overall_code: 'OVER_LIMIT',
    statuses: [{ current_limit: { requests_per_unit: 1 }, limit_remaining: 0 }],
    dynamic_metadata: { 'gw.ratelimit.retry_after': 1, a_b: { c_d: 1 } },
  });
  assert.deepEqual(written, {
    overallCode: 'OVER_LIMIT',
    statuses: [{ currentLimit: { requestsPerUnit: 1 }, limitRemaining: 0 }],
    dynamicMetadata: { 'gw.ratelimit.retry_after': 1, a_b: { c_d: 1 } },
  });
});
