import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText } from '#resources/testing/problem-lines.ts';
import { hashSpec } from '#resources/words/hash.ts';
import { packFile, unpackFile } from './packed-file.ts';
import type { ParsedFile } from './parsed-file.ts';

/** What arrives in another thread. */
function sent(parsed: ParsedFile): ParsedFile {
  return unpackFile(structuredClone(packFile(parsed)));
}

function mapping(spec: string, annotations = '{}'): ParsedFile {
  const head = `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: x, annotations: ${annotations}}`;
  return parseText(`${head}\nspec: ${spec}\n`);
}

const RIGHT = '{prefix: /x, service: x}';
const ODD =
  '[.inf, -.inf, .nan, -0.0, !!set {a, b}, !!omap [a: 1], {__proto__: {a: -0.0}}, {a: .inf, __proto__: b}]';

for (const [what, parsed] of [
  ['a resource', mapping(RIGHT)],
  ['a Problem', mapping('{prefix: x, "\\ud800": "\\ud800"}')],
  ['what JSON cannot hold', mapping(RIGHT, ODD)],
  ['a document of which nothing is ours', parseText('a: 1\n')],
] as const) {
  test(`${what} arrives as it was sent`, () => assert.deepStrictEqual(sent(parsed), parsed));
}

test('what JSON cannot hold is sent beside it', () => {
  assert.deepEqual(
    packFile(mapping(RIGHT, ODD)).odd.map(({ path }) => path.at(-1)),
    [0, 1, 2, 3, 4, 5, 'a', 'a'],
  );
});

test('secrets arrive with their bytes, and stand in no JSON', () => {
  const parsed = parseText(
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: hunter2}\ndata: {b: eQ==}\n',
  );
  assert.doesNotMatch(packFile(parsed).json, /hunter2|aHVudGVyMg/);
  const [before] = parsed.resources;
  const [after] = sent(parsed).resources;
  assert.ok(before !== undefined && after !== undefined);
  assert.deepStrictEqual(after, before);
  assert.equal(hashSpec(after.spec), before.hash);
});

test('a missing value stays apart from one that is not there', () => {
  const odd = { ...mapping(RIGHT), extra: { there: undefined } };
  assert.deepStrictEqual(sent(odd), odd);
});

test('a value that is elsewhere arrives with its place', () => {
  const parsed = parseText(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: operators write this form
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: "${env:A_SECRET}", b: c}\n',
  );
  const [secret] = sent(parsed).resources;
  assert.ok(secret?.kind === 'Secret');
  assert.deepEqual(secret.spec.stringData.a?.place, { env: 'A_SECRET' });
  assert.equal(secret.spec.stringData.b?.place, undefined);
});
