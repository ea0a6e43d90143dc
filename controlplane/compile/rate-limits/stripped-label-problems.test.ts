import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { labellings } from './labelling.ts';
import { strippedLabelProblems } from './stripped-label-problems.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const MODULE = document(
  'Module',
  'gateway',
  '{config: {default_labels: {gateway: {defaults: [{via: {header: Forwarded}}]}}}}',
);
const MAPPING = document(
  'Mapping',
  'a',
  '{prefix: /a/, service: s, labels: {gateway: [{g: [a, {user: {header: x-user}}]}, {h: [a, {span: {header: B3}}]}]}}',
);
const FILTER = document(
  'Filter',
  'jwt',
  '{JWT: {jwksURI: "https://id.test/jwks", injectRequestHeaders: [{name: B3, value: x}]}}',
);

function messagesOf(text: string, names = ['b3', 'forwarded']): readonly string[] {
  const { resources } = resourceSetOf(text);
  const [labelling] = labellings(resources).domains;
  assert.ok(labelling !== undefined);
  const removed = { names, why: (header: string) => `"${header}" is removed` };
  return strippedLabelProblems(resources, labelling, removed).map(
    ({ name, field, message }) => `${name} ${field}: ${message}`,
  );
}

test('a label of a header that is removed is told where it stands', () => {
  assert.deepEqual(messagesOf(MODULE + MAPPING), [
    'gateway spec.config.default_labels.gateway: "forwarded" is removed: no request has the label "via", nor the other labels of its group. Choose another header',
    'a spec.labels.gateway: "b3" is removed: no request has the label "span", nor the other labels of its group. Choose another header',
  ]);
});

test('a label of a header that a Filter sets or that nothing removes is not told of', () => {
  assert.deepEqual(messagesOf(MAPPING + FILTER), []);
  assert.deepEqual(messagesOf(MODULE + MAPPING, []), []);
});
