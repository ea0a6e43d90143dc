import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldPath } from '#resources/finding.ts';
import { damagedTexts, randomFrom } from '#resources/testing/damaged-texts.ts';
import { splitDocuments } from './document-text.ts';
import { readPlainYaml } from './plain-yaml.ts';
import { hasDuplicateKeys } from './yaml-duplicate-keys.ts';
import { lineFinder } from './yaml-node.ts';
import { readYaml } from './yaml-value.ts';

/** What a line may have. Each stands for many of its sort, right or wrong in its place. */
const KEYS = ['a', 'kind', 'x-y.z/1', 'true', 'null', '__proto__', 'constructor', '1', '"q"', '<<'];
const SCALARS =
  `word|true|True|null|NULL|~|0|7|007|-3|+3|1.5|1e3|0x1F|0o17|.5|.inf|.NaN|1.2.3.4:80|10.0.0.1|1.2.3.|5s|1_000
2001-01-01|12:30:45|deadbeef|/a/b|^/(a|b)$|a b|a: b|a:|a:b|a #c|a#c|"q"|'q'|"it''s"|'it''s'|"a\\nb"|"a|'a|"a"b
@x|&x y|*x|!t y|%x|\`x\`|"a: b"|"#"|{}|[]|[a, b]|[a,b]|[ a ]|[a, ]|[,]|[a b]|[a: b]|[a:b]|{a: b}|{ a: 1 }|{a: }
{a}|{a: b, a: c}|{a: [b, {c: "d"}]}|{"a": b}|{a: b}: c|[a]: b|"a": b|[true, 1, 'x', 0x1]|[[a]|{a: {b: c}|[a] b
- a|? a|é|$x|(a)|a,b|a]b|a}b|...|---|--- a|<<|=|a\tb|-|:|#c|http://h/p?q=1&r=2#f|{__proto__: 1}|{a: *x}|[-1, b]`
    .split(/[|\n]/)
    .concat('|', '>', '|-', 'a|b', '', '', '');

const COMMENTS = ['', '', '', '', ' ', ' # c', '  #', '# c'];

/** Returns what looks like YAML, and often is. */
function randomText(below: (most: number) => number): string {
  const one = (list: readonly string[]) => list[below(list.length)] ?? '';
  const usually = (often: string, list: readonly string[]) => (below(20) === 0 ? one(list) : often);
  const lines: string[] = below(4) === 0 ? ['---'] : [];
  let indent = 0;
  for (let count = 1 + below(6); count > 0; count--) {
    if (below(20) === 0)
      lines.push(one(['', '  ', '# c', '   # c', '---', '...', '\t', '%YAML 1.1']));
    const marker = below(4) === 0 ? one(['- ', '- ', '-  ', '-', '- - ']) : '';
    const key =
      below(9) === 0 ? '' : `${usually(`k${below(30)}`, KEYS)}${usually(':', [' :', '', ':  '])}`;
    const value = below(3) === 0 ? '' : below(3) === 0 ? 'word' : one(SCALARS);
    const gap = key === '' || value === '' ? '' : usually(' ', ['', '  ', '\t']);
    lines.push(`${' '.repeat(indent)}${marker}${key}${gap}${value}${usually('', COMMENTS)}`);
    const steps = value === '' && below(3) > 0 ? [2] : [0, 0, 0, 0, 0, 0, 0, 2, -2, -2, -4, 1, -1];
    indent = Math.max(0, indent + (steps[below(steps.length)] ?? 0));
  }
  return lines.join('\n') + one(['', '\n', '\n', '\n', '\n\n', '\r\n']);
}

/** Returns whether it is read, and checks that it then has the value and lines of the library. */
function isReadAlike(text: string): boolean {
  const plain = readPlainYaml(text);
  if (plain === undefined) return false;
  const yaml = readYaml(text);
  const { document, read, resolve } = yaml;
  assert.ok('value' in read, `${JSON.stringify(text)} is wrong`);
  // The text of it also shows the order of keys.
  assert.equal(JSON.stringify(plain.value), JSON.stringify(read.value), JSON.stringify(text));
  assert.deepEqual(plain.value, read.value, JSON.stringify(text));
  assert.equal(hasDuplicateKeys(yaml), false, JSON.stringify(text));
  const lineOf = lineFinder(resolve(document.contents), yaml);
  for (const path of pathsIn(plain.value))
    assert.equal(plain.lineOf(path), lineOf(path), `${JSON.stringify(text)} ${path.join('.')}`);
  return true;
}

/** Returns the paths of all fields, and of some that are missing. */
function pathsIn(value: unknown, path: FieldPath = []): readonly FieldPath[] {
  if (typeof value !== 'object' || value === null) return [path, [...path, 'none'], [...path, 0]];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  const below = entries.flatMap(([key, item]) => pathsIn(item, [...path, key]));
  return [path, [...path, 'none'], [...path, 1], [...path, 99], ...below];
}

test('random texts are read as the library reads them, or left to it', () => {
  const below = randomFrom(7);
  const texts = Array.from({ length: 20_000 }, () => randomText(below));
  const read = texts.filter(isReadAlike).length;
  assert.ok(read > texts.length / 20, `only ${read} were read`);
});

test('damaged resources are read as the library reads them, or left to it', () => {
  const texts = [...damagedTexts(500)].flatMap(splitDocuments);
  const read = texts.filter(({ text }) => isReadAlike(text)).length;
  assert.ok(read > texts.length / 20, `only ${read} were read`);
});

const READ = [
  'apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata:\n  name: a\nspec:\n  prefix: /a/\n  service: 127.0.0.1:80\n',
  '---\n# comment\na: 1 # comment\n\nb: "x # y"\n',
  'a:\n- b: 1\n  c:\n  - d\n  - e: null\n-  f: true\ng:\n  - h\n',
  'a: {name: x, list: [1, "b"]}\nb: []\n',
  'a:\nb:\n# comment\n  c:\n',
  "a: 'it''s'\nb: http://h/p?q#f\n",
];

for (const text of READ)
  test(`${JSON.stringify(text)} needs no library`, () => assert.ok(isReadAlike(text)));

const LEFT = ['', 'a', '- a\n', 'a: 1\na: 2\n', 'a: é\n', 'a: |\n  b\n', 'a: *b\n', 'a: b\n  c\n'];

for (const text of LEFT)
  test(`${JSON.stringify(text)} is left to the library`, () =>
    assert.equal(readPlainYaml(text), undefined));

test('nesting that is too deep is left to the library', () => {
  assert.equal(readPlainYaml(`a: ${'['.repeat(10_000)}${']'.repeat(10_000)}\n`), undefined);
  const blocks = Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(depth)}a:\n`);
  assert.equal(readPlainYaml(blocks.join('')), undefined);
});
