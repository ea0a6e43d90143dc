/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the forms that operators write */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';
import { parseSecretPlace } from './secret-place.ts';

const PLACES: readonly (readonly [string, unknown])[] = [
  ['${env:LOGIN_SECRET}', { env: 'LOGIN_SECRET' }],
  ['${file:keys/login}', { file: 'keys/login' }],
  ['${file:/run/secrets/a b}', { file: '/run/secrets/a b' }],
  ['', undefined],
  ['open sesame', undefined],
  ['$env:A', undefined],
  ['${A}', undefined],
  ['file:a', undefined],
];

for (const [text, place] of PLACES)
  test(`reads ${JSON.stringify(text)} as ${place === undefined ? 'the secret itself' : 'a place'}`, () =>
    assert.deepEqual(parseSecretPlace(text), { value: place }));

const WRONG = [
  '${env:}',
  '${file:}',
  '${env:1A}',
  '${env:A-B}',
  '${env: A}',
  '${ENV:A}',
  '${env:A',
  'x${env:A}',
  '${env:A}\n',
  '${env:A}${env:B}',
  '${env:${env:A}}',
  `\${env:${'A'.repeat(257)}}`,
  `\${file:${'a'.repeat(4097)}}`,
  '${file:a\0b}',
];

for (const text of WRONG)
  test(`rejects ${JSON.stringify(text.slice(0, 40))} without a word of it`, () => {
    const secret = { stringData: { a: `${text}` } };
    const document = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, ...secret };
    const parsed = parseText(JSON.stringify(document));
    assert.deepEqual(problemLines(parsed), [
      '1 error stringData.a: a value from elsewhere is `${env:NAME}` or `${file:PATH}` and nothing else. A text that only looks like it belongs in `data`, in base64',
    ]);
  });

test('a place in `data` is just a text, as Kubernetes gives it', () => {
  const data = { a: Buffer.from('${env:A}').toString('base64') };
  const document = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data };
  const [secret] = parseText(JSON.stringify(document)).resources;
  assert.ok(secret?.kind === 'Secret');
  assert.equal(secret.spec.data.a?.place, undefined);
});
