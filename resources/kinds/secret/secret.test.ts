import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { Resource } from '#resources/resource.ts';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';
import { secretValue } from './secret.ts';

function readSecret(fields: object): Resource<'Secret'> | undefined {
  const document = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, ...fields };
  const [resource] = parseText(JSON.stringify(document)).resources;
  return resource?.kind === 'Secret' ? resource : undefined;
}

function reveal(secret: Resource<'Secret'> | undefined, key: string): string | undefined {
  const value = secret === undefined ? undefined : secretValue(secret.spec, key);
  return value === undefined ? undefined : new TextDecoder().decode(value.reveal());
}

test('data is base64, stringData is plain and wins', () => {
  const secret = readSecret({ data: { a: 'aGVs\nbG8=', b: 'eA==' }, stringData: { b: 'plain' } });
  assert.deepEqual(
    [reveal(secret, 'a'), reveal(secret, 'b'), reveal(secret, 'c')],
    ['hello', 'plain', undefined],
  );
});

test('a value shows in no dump', () => {
  const secret = readSecret({ data: { a: 'aHVudGVyMg==' }, stringData: { b: 'hunter2' } });
  for (const dump of [
    JSON.stringify(secret),
    inspect(secret, { depth: 9, showHidden: true }),
    `${secret?.spec.stringData.b}`,
  ]) {
    assert.doesNotMatch(dump, /hunter2|aHVudGVyMg/);
  }
});

test('a different value gives a different hash', () => {
  const hashes = ['x', 'y'].map(value => readSecret({ stringData: { a: value } })?.hash);
  assert.notEqual(hashes[0], hashes[1]);
});

/** Whatever is wrong with a secret, the message must not hold its value. */
const WRONG: readonly [fields: string, problems: readonly string[]][] = [
  ['data: {a: hunter2}', ['4 error data.a: not base64. Plain text belongs in `stringData`']],
  ['data: {a: [hunter2]}', ['4 error data.a: `a` must be base64']],
  ['data: hunter2', ['4 error data: `data` must be a map from key to base64']],
  ['data: [hunter2]', ['4 error data: `data` must be a map from key to base64']],
  ['stringData: {a: 12345}', ['4 error stringData.a: `a` must be a string']],
  ['stringData: {key }', ['4 error stringData.key: `key` must be a string']],
  ['stringData: hunter2', ['4 error stringData: `stringData` must be a map from key to string']],
  ['type: 5', ['4 error type: `type` must be a string, not 5']],
  [
    'stringdata: {a: hunter2}',
    ['4 warning stringdata: `stringdata` is read as `stringData`. Please spell it so'],
  ],
  [
    'strngData: {a: hunter2}',
    ['4 warning strngData: unknown field `strngData`, did you mean `stringData`?'],
  ],
  [
    'data: {"a b": eA==}',
    [
      '4 error data["a b"]: "a b" may not be a key here: letters, digits, "-", "_" and "." only, 253 at most',
    ],
  ],
  [
    'stringData: {a: "hunter2',
    ['5 error : Cannot read this YAML: a closing quote, bracket, comma or ":" is missing'],
  ],
  [
    'stringData: {a: hunter2} hunter2',
    [
      '4 error : Cannot read this YAML: this does not belong here. Check the indentation and the quotes',
    ],
  ],
  [
    'stringData: {a: *hunter2}',
    ['4 error : Cannot read this YAML: an alias (`*name`) needs its anchor (`&name`) before it'],
  ],
  [
    'stringData: {a: hunter2, a: hunter3}',
    ['4 error stringData.a: `a` appears twice in one map. Keep one'],
  ],
];

for (const [fields, problems] of WRONG) {
  test(`what is wrong with a Secret that has ${fields} is said without its value`, () => {
    const parsed = parseText(`apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n${fields}\n`);
    assert.deepEqual(problemLines(parsed), problems);
  });
}

test('a Secret of another version is a mistake', () => {
  const parsed = parseText('apiVersion: gateway.internal/v2\nkind: Secret\nmetadata: {name: s}\n');
  assert.deepEqual(problemLines(parsed), [
    '1 error apiVersion: `gateway.internal/v2` is not read for Secret. Write `v1`',
  ]);
});
