import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toResourceSet } from '#resources/resource-set.ts';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';

const mapping = (spec: string) =>
  parseText(
    `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m}\nspec:\n  prefix: /x\n  service: x\n${spec}`,
  );
const WARNING =
  'is a text here and a boolean for kubectl, with which true means any value. Quote it';

for (const word of ['on', 'Yes', 'y', 'OFF', 'no'])
  test(`a condition on ${word} without quotes has a warning, and compares the text`, () => {
    const parsed = mapping(
      `  Headers:\n    x-beta: ${word}\n  query_parameters: {v: ${word}, w: "${word}"}\n`,
    );
    assert.deepEqual(
      problemLines(parsed).filter(line => line.includes('kubectl')),
      [
        `8 warning spec.Headers.x-beta: the value of \`x-beta\` ${WARNING}`,
        `9 warning spec.query_parameters.v: the value of \`v\` ${WARNING}`,
      ],
    );
    const [read] = toResourceSet(parsed.resources, []).mappings;
    assert.deepEqual(read?.spec.headers, { 'x-beta': word });
    assert.deepEqual(read?.spec.query_parameters, { v: word, w: word });
  });

for (const [what, spec] of [
  ['quoted', '  headers: {x-beta: "on"}\n'],
  ['a boolean', '  headers: {x-beta: true}\n'],
  ['longer', '  headers: {x-beta: on-call}\n'],
  ['elsewhere', '  host: on\n  add_request_headers: {x: "y"}\n'],
])
  test(`nothing is wrong with a word that is ${what}`, () => {
    assert.deepEqual(mapping(spec ?? '').problems, []);
  });
