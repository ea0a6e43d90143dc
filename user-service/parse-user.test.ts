import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePassword, parseUser } from './parse-user.ts';

const password = 'pw';

test('full name and password are read, other fields are ignored', () => {
  const user = parseUser({ fullname: 'Ada', password, admin: true });
  assert.deepEqual(user, { fullname: 'Ada', password });
});

test('the bounds count code points, not UTF-16 units', () => {
  const fullname = '𝒜'.repeat(256);
  assert.equal(parseUser({ fullname, password }).fullname, fullname);
  assert.throws(() => parseUser({ fullname: `${fullname}a`, password }), { status: 400 });
});

test('a password has at most 1024 characters', () => {
  assert.equal(parsePassword({ password: 'x'.repeat(1024) }).length, 1024);
  assert.throws(() => parsePassword({ password: 'x'.repeat(1025) }), {
    message: /1 to 1024 characters/,
  });
});

for (const [name, fullname, message] of [
  ['missing', undefined, '"fullname" is missing'],
  ['null', null, '"fullname" must be a string'],
  ['a number', 1, '"fullname" must be a string'],
  ['empty', '', '"fullname" must have 1 to 256 characters'],
  ['with U+0000', 'a\0b', '"fullname" must not contain U+0000'],
  ['with a lone surrogate', 'a\ud800', '"fullname" contains half of a surrogate pair'],
] as const) {
  test(`a full name that is ${name} is refused with 400`, () => {
    assert.throws(() => parseUser({ fullname, password }), { status: 400, message });
  });
}

test('a field of the prototype is not a field of the body', () => {
  const body: unknown = JSON.parse('{"__proto__": {"fullname": "Eve"}, "password": "pw"}');
  assert.throws(() => parseUser(body as Record<string, unknown>), {
    message: '"fullname" is missing',
  });
});
