import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';

const MAPPING = 'apiVersion: gateway.internal/v2\nkind: Mapping\n';
const SPEC = 'spec: {prefix: /x, service: x}\n';

for (const [written, read] of [
  ['true', 'true'],
  ['1', '1'],
  ['null', ''],
  ['[a]', ''],
] as const)
  test(`a label ${written} is read as ${JSON.stringify(read)}, and a warning says so`, () => {
    const parsed = parseText(
      `${MAPPING}metadata: {name: m, labels: {b: c, a: ${written}}}\n${SPEC}`,
    );
    assert.deepEqual(parsed.resources[0]?.metadata?.labels, { b: 'c', a: read });
    assert.deepEqual(problemLines(parsed), [
      `3 warning metadata.labels.a: the label "a" must be a string. Quote it. It is read as ${JSON.stringify(read)}`,
    ]);
  });

test('labels under a misspelt key are read as labels, and a warning says so', () => {
  const parsed = parseText(`${MAPPING}metadata: {name: m, lables: {team: a}}\n${SPEC}`);
  assert.deepEqual(parsed.resources[0]?.metadata?.labels, { team: 'a' });
  assert.deepEqual(problemLines(parsed), [
    '3 warning metadata.lables: `lables` is read as `labels`. Please write it so',
  ]);
});

test('labels that are no map are an error, and empty ones are none', () => {
  const read = (labels: string) =>
    problemLines(parseText(`${MAPPING}metadata: {name: m, labels: ${labels}}\n${SPEC}`));
  for (const labels of ['[team: a]', 'team=a'])
    assert.deepEqual(read(labels), [
      '3 error metadata.labels: `labels` must be a map from name to string',
    ]);
  for (const labels of ['[]', '""', '{}', 'null']) assert.deepEqual(read(labels), []);
});

test('a Namespace has its labels too, whatever they are', () => {
  const text = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: n, labels: {restricted: true}}\n';
  assert.deepEqual(parseText(text).resources[0]?.metadata?.labels, { restricted: 'true' });
});

test('labels of a kind whose labels nothing reads are of no interest', () => {
  const text = `apiVersion: gateway.internal/v2\nkind: FilterPolicy\nmetadata: {name: p, labels: {a: 1}}\nspec: {rules: []}\n`;
  assert.deepEqual(parseText(text).problems, []);
});
