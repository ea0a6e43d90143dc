import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { newSeed, openText, sealText } from './sealed-text.ts';

const KEY = createSecretKey(new Uint8Array(32).fill(7));
const SCOPE = { kind: 'attempt', realm: 'site.default', boundTo: ['https://a.test'] };

const sealed = (value: unknown) =>
  sealText(KEY, SCOPE, { seed: newSeed(randomBytes), value }, randomBytes);

for (const value of [{ a: [1, 'ä'] }, 'x'.repeat(10_000), null, '']) {
  test(`a value of ${JSON.stringify(value).length} characters comes back as it was`, () => {
    assert.deepEqual(openText(KEY, SCOPE, sealed(value))?.value, value);
  });
}

test('the same value is another text each time, and shows nothing', () => {
  const texts = Array.from({ length: 100 }, () => sealed('secret-path'));
  assert.equal(new Set(texts.map(text => text.slice(0, 22))).size, 100);
  for (const text of texts) assert.ok(!Buffer.from(text, 'base64url').includes('secret-path'));
});

test('what repeats takes less room', () => {
  assert.ok(sealed('/dashboards/x?filter=abc&'.repeat(100)).length < 300);
});

test('it opens as what it was sealed for, and with the same store key, alone', () => {
  const text = sealed({ a: 1 });
  assert.ok(openText(KEY, SCOPE, text));
  for (const other of [
    { kind: 'handoff' },
    { realm: 'other.default' },
    { boundTo: ['https://b.test'] },
  ])
    assert.equal(openText(KEY, { ...SCOPE, ...other }, text), undefined);
  assert.equal(openText(createSecretKey(new Uint8Array(32).fill(8)), SCOPE, text), undefined);
});

test('with any byte changed it does not open', () => {
  const bytes = Buffer.from(sealed({ a: 1 }), 'base64url');
  for (let index = 0; index < bytes.length; index += 1) {
    const forged = Buffer.from(bytes);
    forged[index] = (forged[index] ?? 0) ^ 1;
    assert.equal(openText(KEY, SCOPE, forged.toString('base64url')), undefined, `byte ${index}`);
  }
});

for (const text of ['', 'x', 'a'.repeat(100), 'a b', '="', '\u{1f600}', 'a'.repeat(100_000)]) {
  test(`"${text.slice(0, 8)}" of ${text.length} letters does not open`, () => {
    assert.equal(openText(KEY, SCOPE, text), undefined);
  });
}
