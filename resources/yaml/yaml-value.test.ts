import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readYaml } from './yaml-value.ts';

const VALUES: readonly [text: string, value: unknown][] = [
  ['a: yes\nb: on\nc: 0777\nd: 1e3\ne: ~\n', { a: 'yes', b: 'on', c: 777, d: 1000, e: null }],
  ['1: a\ntrue: b\nnull: c\n', { 1: 'a', true: 'b', null: 'c' }],
  ['a: &a {x: 1}\nb: {<<: *a, y: 2}\n', { a: { x: 1 }, b: { x: 1, y: 2 } }],
  ['{"a": [1, "b", null, true]}', { a: [1, 'b', null, true] }],
];

for (const [text, value] of VALUES) {
  test(`${JSON.stringify(text)} is read as YAML 1.2`, () =>
    assert.deepEqual(readYaml(text).read, { value }));
}

test('a key named __proto__ is a key like others', () => {
  const { read } = readYaml('{"__proto__": {"polluted": 1}}');
  assert.deepEqual('value' in read ? Object.keys(Object(read.value)) : [], ['__proto__']);
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});

/**
 * A text for each kind of mistake that the library knows, with the word `hunter2` where a secret
 * might stand.
 */
const WRONG = [
  'a: *hunter2\n',
  'a: "hunter2\n',
  "a: 'hunter2\n",
  'a: [hunter2\n',
  'a: {hunter2\n',
  'a: hunter2: b\n',
  'a:\n\thunter2: b\n',
  'a: "\\q hunter2"\n',
  'a: @hunter2\n',
  'a: `hunter2`\n',
  'a: &x &y hunter2\n',
  'a: !x !y hunter2\n',
  'a: hunter2\n  b: c\n',
  '%hunter2 x y\n---\na\n',
  '{hunter2: b}: c\n',
  'a: &a [*a, hunter2]\n',
  '- a\nhunter2\n',
  'a: b\n c: hunter2\n',
  '? [hunter2]\n',
  'a: |hunter2\n',
  'a: "x"hunter2\n',
  'a: b\n... hunter2\n',
  'hunter2\na: b\n',
  `"${'x'.repeat(2000)}": hunter2\n`,
  'a: - hunter2\n',
  '<<: hunter2\n',
];

for (const text of WRONG) {
  test(`what is wrong with ${JSON.stringify(text.slice(0, 40))} is said without quoting it`, () => {
    const { read } = readYaml(text);
    if ('broken' in read)
      assert.match(read.broken.message, /^Cannot read this YAML: (?!.*(hunter2|undefined))/);
    else assert.notEqual(read.value, undefined);
  });
}

test('an alias that `<<` merges in needs its anchor in the same document', () => {
  const { lineAt, read } = readYaml('spec:\n  a: 1\n  <<: *common\n');
  assert.ok('broken' in read);
  assert.deepEqual(
    [lineAt(read.broken.offset), read.broken.message],
    [3, 'Cannot read this YAML: an alias (`*name`) needs its anchor (`&name`) before it'],
  );
});
