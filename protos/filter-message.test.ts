import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from './decode.ts';
import { encodeAny } from './encode.ts';
import type { JsonObject } from './json.ts';
import { FILTER, FILTER_POLICY } from './type-url.ts';

function roundTrip(typeUrl: string, content: JsonObject): JsonObject {
  const { value } = encodeAny({ '@type': typeUrl, ...content });
  return decode(typeUrl.slice(typeUrl.lastIndexOf('/') + 1), value);
}

test('a Filter arrives with durations below a millisecond, secret bytes and any JSON in claims', () => {
  const assertion = { lifetime: '0.000001s', other_claims: { a: [1, { b: null }], __proto: 'x' } };
  const oauth2 = {
    client_authentication: { method: 'JWT_ASSERTION', jwt_assertion: assertion },
    secret: 'AP8=',
    extra_authorization_parameters: { prompt: 'login' },
  };
  assert.deepEqual(roundTrip(FILTER, { oauth2 }), { oauth2 });
});

test('a negative leeway arrives', () => {
  const jwt = { leeway_for_expires_at: '-1.500s' };
  assert.deepEqual(roundTrip(FILTER, { jwt }), { jwt });
});

test('a FilterPolicy tells no scope from an empty one', () => {
  const filters = [{ arguments: { scope: {} } }, { arguments: {} }];
  const policy = { precedence: -1, rules: [{ filters }] };
  assert.deepEqual(roundTrip(FILTER_POLICY, policy), policy);
});
