import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { damagedTexts } from '#resources/testing/damaged-texts.ts';
import { createParser, parseFile } from './parse.ts';
import { DEFAULT_PARSE_OPTIONS } from './parse-options.ts';

const mapping = (name: string, service = 'x') =>
  `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec:\n  prefix: /${name}\n  service: ${service}\n`;

const files = (...contents: readonly string[]) =>
  new Map(contents.map((text, index) => [`${index}.yaml`, { text }]));

test('lines count from the beginning of the file, also when a document before grows', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const second = `---\n${mapping('b', '"-"')}`;
  const lines = (first: string) =>
    parse(files(first + second)).flatMap(file => [
      ...file.problems.map(({ line }) => line),
      ...[...file.resources, ...file.rejected].map(({ name, source }) => `${name}:${source.line}`),
    ]);
  assert.deepEqual(lines(mapping('a')), [13, 'a:1', 'b:8']);
  assert.deepEqual(lines(`# more\n\n${mapping('a')}`), [15, 'a:3', 'b:10']);
  assert.deepEqual(lines(mapping('a')), [13, 'a:1', 'b:8']);
});

test('what did not change is the very same object, so that others need not look into it', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const text = [mapping('a'), mapping('b')].join('---\n');
  const [before] = parse(files(text));
  const [after] = parse(files(text.replace('service: x\n---', 'service: y\n---')));
  assert.notEqual(after?.resources[0]?.hash, before?.resources[0]?.hash);
  assert.equal(after?.resources[1], before?.resources[1]);
});

test('what only moved has the same spec and hash', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const [before] = parse(files(mapping('a')));
  const [after] = parse(files(`\n\n${mapping('a')}`, 'a: 1'));
  assert.equal(after?.resources[0]?.hash, before?.resources[0]?.hash);
  assert.equal(after?.resources[0]?.source.line, 3);
});

test('the hash tells what a resource means, not how and where it is written', () => {
  const hashOf = (text: string) =>
    parseFile('r.yaml', text, DEFAULT_PARSE_OPTIONS).resources[0]?.hash;
  const head = 'apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: a}\n';
  assert.equal(
    hashOf(`${head}spec: {service: x, prefix: /a}`),
    hashOf(`# c\n${head}spec: {prefix: "/a", service: "http://X", host: "*"}`),
  );
  assert.notEqual(
    hashOf(`${head}spec: {service: x, prefix: /a}`),
    hashOf(`${head}spec: {service: x, prefix: /b}`),
  );
});

test('the same document in two files is placed in both', () => {
  const parsed = createParser(DEFAULT_PARSE_OPTIONS)(files(mapping('a'), mapping('a')));
  assert.deepEqual(
    parsed.map(({ file, resources }) => [file, resources[0]?.source.file]),
    [
      ['0.yaml', '0.yaml'],
      ['1.yaml', '1.yaml'],
    ],
  );
});

test('a Problem of a value of a million characters is short, and still says what is wrong', () => {
  const [problem] = parseFile(
    'r.yaml',
    mapping('a', 'x'.repeat(1_000_000)),
    DEFAULT_PARSE_OPTIONS,
  ).problems;
  assert.match(problem?.message ?? '', /^Cannot parse service "x{400,}…x{400,}".*253 are allowed/);
});

test('a file that could not be read is a Problem, and what it is about is unknown', () => {
  const [parsed] = createParser(DEFAULT_PARSE_OPTIONS)(
    new Map([['a.yaml', { error: 'permission denied' }]]),
  );
  assert.equal(parsed?.readable, false);
  assert.deepEqual(
    parsed?.problems.map(({ file, line, message }) => [file, line, message]),
    [['a.yaml', 1, 'permission denied']],
  );
});

test('the document of a resource can be kept and parsed again; that of a Secret is not given out', () => {
  const [resource] = parseFile('r.yaml', mapping('a'), DEFAULT_PARSE_OPTIONS).resources;
  const [again] = parseFile(
    'kept',
    JSON.stringify(resource?.document),
    DEFAULT_PARSE_OPTIONS,
  ).resources;
  assert.equal(again?.hash, resource?.hash);
  const secret = parseFile(
    'r.yaml',
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n',
    DEFAULT_PARSE_OPTIONS,
  );
  assert.equal(secret.resources[0]?.document, undefined);
});

test('no text makes the parser throw, and whatever it serves is right', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  for (const text of damagedTexts(cases({ all: 1500, quick: 150 }))) {
    const [parsed] = parse(files(text));
    const lines = text.split('\n').length;
    for (const problem of parsed?.problems ?? []) {
      assert.ok(
        problem.line >= 1 && problem.line <= lines + 1,
        `line ${problem.line} of ${lines}: ${problem.message}`,
      );
      assert.doesNotMatch(
        problem.message,
        /undefined|Invalid input|\[object/,
        JSON.stringify(text),
      );
    }
    for (const resource of parsed?.resources ?? [])
      assert.ok(resource.name !== '' && resource.hash !== '');
  }
});
