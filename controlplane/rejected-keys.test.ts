import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RejectedKeys } from './rejected-keys.ts';

const SENT = new Map([
  ['good', ['{"kid":"a"}']],
  ['odd', ['{"kid":"b"}', '{"kid":"c"}']],
  ['twin', ['{"kid":"b"}', '{"kid":"c"}']],
]);
const MESSAGE =
  "Provider 'odd' in jwt_authn config has invalid local jwks: Jwks is an invalid JSON";

test('keys that a proxy rejects are left out until the provider has others', () => {
  const rejected = new RejectedKeys();
  assert.deepEqual(rejected.without(SENT), SENT);
  rejected.reject(SENT, MESSAGE);
  assert.deepEqual([...rejected.without(SENT).keys()], ['good']);
  const reason = 'invalid local jwks: Jwks is an invalid JSON';
  assert.deepEqual(
    [...rejected.reasons(SENT)],
    [
      ['odd', reason],
      ['twin', reason],
    ],
  );
  const others = new Map([...SENT, ['odd', ['{"kid":"d"}']]]);
  assert.deepEqual([...rejected.without(others).keys()], ['good', 'odd']);
  assert.deepEqual([...rejected.reasons(others).keys()], ['twin']);
});

test('a rejection that names no provider of them is about all', () => {
  for (const message of ['', 'Something else', MESSAGE.replace('odd', 'unknown')]) {
    const rejected = new RejectedKeys();
    rejected.reject(SENT, message);
    assert.deepEqual([...rejected.without(SENT).keys()], []);
    assert.equal(rejected.reasons(SENT).get('good'), message);
  }
});
