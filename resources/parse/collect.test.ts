import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rejected } from '#resources/resource.ts';
import { documentOf } from '#resources/testing/problem-lines.ts';
import { collect } from './collect.ts';
import { createParser } from './parse.ts';
import { DEFAULT_PARSE_OPTIONS } from './parse-options.ts';

const mapping = (name: string, service = 'x') =>
  `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {prefix: /${name}, service: "${service}"}\n`;
const module = (name: string, namespace: string) =>
  `apiVersion: gateway.internal/v2\nkind: Module\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {}\n`;

function collectTexts(...texts: readonly string[]) {
  return collect(
    createParser(DEFAULT_PARSE_OPTIONS)(
      new Map(texts.map((text, index) => [`${index}.yaml`, { text }])),
    ),
  );
}

test('of two documents for one resource the first stays in force, and the Problem names both places', () => {
  const { resources, problems } = collectTexts(
    mapping('a', 'first'),
    `---\n${mapping('b')}---\n${mapping('a', 'second')}`,
  );
  const a = resources.get('Mapping/default/a');
  assert.equal(a?.kind === 'Mapping' && a.spec.service.host, 'first');
  assert.deepEqual(
    problems.map(({ file, line, message }) => `${file}:${line} ${message}`),
    ['1.yaml:7 Mapping default/a is already at 0.yaml:1, which counts. Remove or rename one'],
  );
});

test('the first is the first also when it is rejected: its last good version stays in force, not the second', () => {
  const { resources, rejected, problems } = collectTexts(mapping('a', '-'), mapping('a', 'second'));
  assert.equal(resources.size, 0);
  assert.deepEqual([...rejected.keys()], ['Mapping/default/a']);
  assert.equal(problems.length, 2);
});

test('a gateway has one Module, the first', () => {
  const { resources, problems } = collectTexts(
    module('gateway', 'a'),
    module('gateway', 'b'),
    module('ambassador', 'a'),
  );
  assert.deepEqual([...resources.keys()], ['Module/a/gateway']);
  assert.deepEqual(
    problems
      .filter(({ severity }) => severity === 'error')
      .map(({ file, message }) => [file, message]),
    [
      ['1.yaml', 'there is one Module for a gateway, and a/gateway at 0.yaml:1 counts. Remove one'],
      ['2.yaml', 'there is one Module for a gateway, and a/gateway at 0.yaml:1 counts. Remove one'],
    ],
  );
});

test('a Module of a wrong name keeps none of the right name out', () => {
  const { resources, problems } = collectTexts(
    module('authentication', 'a'),
    module('gateway', 'a'),
  );
  assert.deepEqual([...resources.keys()], ['Module/a/gateway']);
  assert.deepEqual(
    problems.map(({ message }) => message),
    ['the name must be "gateway", not "authentication"'],
  );
});

test('resources without a readable name are each kept, so that each closes what it covers', () => {
  const unnamed = mapping('a').replace('name: a', 'nam: a');
  const { rejected } = collectTexts(unnamed, `${unnamed}---\n${unnamed}`);
  assert.deepEqual(
    [...rejected].map(([id, { match }]) => [id, match?.prefix]),
    [
      ['Mapping/default/@0.yaml:1', '/a'],
      ['Mapping/default/@1.yaml:1', '/a'],
      ['Mapping/default/@1.yaml:6', '/a'],
    ],
  );
});

test('a file with a part of which nothing is known is named', () => {
  const { unreadable, resources } = collectTexts(mapping('a'), `{{{\n---\n${mapping('b')}`);
  assert.deepEqual([...unreadable], ['1.yaml']);
  assert.deepEqual([...resources.keys()], ['Mapping/default/a', 'Mapping/default/b']);
});

test('a file with a document that does not say which resource it is is named', () => {
  const good = mapping('a');
  const texts = [
    good,
    `${good}---\n${good.replace('name: a', 'nam: b')}`,
    good.replace('kind: Mapping', 'kind: Telephone'),
    good.replace('kind: Mapping', 'kind:'),
    'just a word',
    'spec: { prefix: /a }',
    'apiVersion: apps/v1\nkind: Deployment\n',
  ];
  assert.deepEqual(
    [...collectTexts(...texts).anonymous],
    ['1.yaml', '2.yaml', '3.yaml', '4.yaml', '5.yaml'],
  );
});

test('a file with a document that breaks off in its name is named too', () => {
  const [begin = ''] = mapping('abc').split('bc}');
  const { anonymous, rejected } = collectTexts(begin);
  assert.deepEqual([...rejected.keys()], ['Mapping/default/a']);
  assert.deepEqual([...anonymous], ['0.yaml']);
});

const policy = (...paths: readonly string[]) =>
  documentOf('FilterPolicy', { rules: paths.map(path => ({ path, filters: [{ name: 'f' }] })) });
const closedPaths = (rejected: ReadonlyMap<string, Rejected>) =>
  [...rejected].map(([id, { rules = [] }]) => [id, ...rules.map(({ path }) => path)]);

test('what a second FilterPolicy of one name covers beyond the first is closed', () => {
  const { problems, rejected, resources } = collectTexts(
    policy('/a/*', '/b/*'),
    policy('/a/x', '/c/*'),
    `${policy('/d/*').replace('"filters"', '"filter"')}\n---\n${policy('/e/*')}`,
  );
  assert.deepEqual([...resources.keys()], ['FilterPolicy/default/x']);
  assert.deepEqual(closedPaths(rejected), [
    ['FilterPolicy/default/x@1.yaml:1', '/c/*'],
    ['FilterPolicy/default/x@2.yaml:1', '/d/*'],
    ['FilterPolicy/default/x@2.yaml:3', '/e/*'],
  ]);
  const told = problems.filter(({ message }) => message.includes('is already at'));
  assert.deepEqual(
    told.map(({ name }) => name),
    ['x', 'x', 'x'],
  );
});

test('a second FilterPolicy closes nothing that the first covers or that it opens, and is a Problem', () => {
  const open = documentOf('FilterPolicy', { rules: [{ path: '/b/*' }] });
  for (const second of [policy('/a/*'), policy('/a/x'), policy(), open]) {
    const { problems, rejected } = collectTexts(policy('/a/*'), second);
    assert.deepEqual([...rejected], []);
    assert.equal(problems.length, 1);
  }
});

test('of two rejected FilterPolicies of one name each closes what it covers', () => {
  const broken = (...paths: readonly string[]) =>
    policy(...paths).replace('"rules"', '"rule":1,"rules"');
  const { rejected } = collectTexts(broken('/a/*'), broken('/a/*', '/b/*'));
  assert.deepEqual(closedPaths(rejected), [
    ['FilterPolicy/default/x', '/a/*'],
    ['FilterPolicy/default/x@1.yaml:1', '/b/*'],
  ]);
});
