import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAccessTokenForm } from './access-token-form.ts';

for (const token of ['a', 'AZaz09-._~+/', 'abc==', 'a.b.c']) {
  test(`${token} is a b64token`, () => assert.ok(isAccessTokenForm(token, false)));
}
for (const token of ['a b', 'a"b', '=a', 'a=b', 'ä', 'a,b', '{x}', '😀']) {
  test(`${token} is malformed: accepted only when that is allowed`, () => {
    assert.ok(!isAccessTokenForm(token, false));
    assert.ok(isAccessTokenForm(token, true));
  });
}
for (const token of ['', 'a\r\nx: y', 'a\n', 'a\0', '\ta', 'a\x7f', 'a\x85', 'a\ud800']) {
  test(`${JSON.stringify(token)} is refused always`, () => {
    assert.ok(!isAccessTokenForm(token, false));
    assert.ok(!isAccessTokenForm(token, true));
  });
}
