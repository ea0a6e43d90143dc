import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalGlob, canonicalPath } from './canonical-path.ts';

for (const [path, canonical] of [
  ['/a/b.html', '/a/b.html'],
  ['/%41%2d%7e', '/A-~'],
  ['/%21%24%26%27%28%29%2b%2c%3b%3d%3a%40', "/!$&'()+,;=:@"],
  ['/caf%c3%a9', '/caf%C3%A9'],
  ['/a%2fb%5cc%3fd%23', '/a%2Fb%5Cc%3Fd%23'],
  ['/{a|b}"é🙂', '/%7Ba%7Cb%7D%22%C3%A9%F0%9F%99%82'],
  ['/\u017f\u212a', '/%C5%BF%E2%84%AA'],
  ['/a*', '/a%2A'],
  ['/%2541', '/%2541'],
  ['/%%341/%zz/%', '/%2541/%25zz/%25'],
] as const) {
  test(`${path} is ${canonical}, and stays so`, () => {
    assert.deepEqual(
      [canonicalPath(path), canonicalPath(canonical)],
      [canonical, canonicalPath(canonical)],
    );
    if (!path.includes('*')) assert.equal(canonicalPath(canonical), canonical);
  });
}

test('the stars of a glob keep their meaning, an escaped one is none', () => {
  assert.equal(canonicalGlob('/**/%2a%41*'), '/**/%2AA*');
});

test('each byte has one spelling, escaped or not', () => {
  for (let code = 0x21; code < 0x7f; code += 1) {
    const character = String.fromCharCode(code);
    const triplet = `%${code.toString(16).padStart(2, '0')}`;
    const spelt = canonicalPath(`/${triplet}`);
    assert.match(spelt, /^\/(?:[^%]|%[0-9A-F]{2})$/);
    // What separates parts of a path or a URL is not what its escaped form is.
    if (!'/%#?\\'.includes(character))
      assert.equal(canonicalPath(`/${character}`), spelt, character);
  }
});
