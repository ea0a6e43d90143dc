import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { labelMeaningProblems } from './label-meaning-problems.ts';
import { labellings } from './labelling.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const LIMIT = document('RateLimit', 'l', '{domain: gateway, limits: []}');
const mapping = (name: string, label: string) =>
  document(
    'Mapping',
    name,
    `{prefix: /${name}/, service: s, labels: {gateway: [{g: [${label}]}]}}`,
  );
const module = (label: string) =>
  document('Module', 'gateway', `{config: {default_labels: {gateway: {defaults: [${label}]}}}}`);

function messagesOf(text: string): readonly string[] {
  const { resources } = resourceSetOf(text);
  const [labelling] = labellings(resources).domains;
  assert.ok(labelling !== undefined);
  return labelMeaningProblems(resources, labelling).map(
    ({ name, field, message }) => `${name} ${field}: ${message}`,
  );
}

const HEADER = '{user: {header: x-user}}';
const PATH = '{user: {path: true}}';
const HOST = "{user: {header: ':authority'}}";
const SAME: readonly string[] = [
  mapping('a', HEADER) + mapping('b', '{user: {header: x-account}}'),
  mapping('a', PATH) + mapping('b', "{user: {header: ':path'}}"),
  mapping('a', HOST) + mapping('b', '{user: {header: x-forwarded-host}}'),
  mapping('a', 'remote_address') + mapping('b', '{remote_address: {header: cf-connecting-ip}}'),
  mapping('a', 'x, {generic_key: {header: x-plan}}') + mapping('b', 'y'),
  mapping('a', 'x, {generic_key: {header: x-plan}}') + mapping('b', 'y, z'),
  mapping('a', '{generic_key: {header: x-plan}}') + mapping('b', 'y, remote_address'),
  mapping('a', `x, ${HEADER}`) + mapping('b', 'y, z'),
];

test('a key of one meaning is not told of', () => {
  for (const text of SAME) assert.deepEqual(messagesOf(LIMIT + text), [], text);
});

test('without a limit that counts them labels do no harm', () => {
  assert.deepEqual(messagesOf(mapping('a', HEADER) + mapping('b', PATH)), []);
});

test('a key that is a header and a path is told at the first resource with the second meaning', () => {
  const mappings = mapping('a', HEADER) + mapping('b', PATH) + mapping('c', PATH);
  assert.deepEqual(messagesOf(LIMIT + mappings), [
    'b spec.labels.gateway: the label "user" of domain "gateway" is the path here and a header in Mapping default/a: values of both are compared as a path, and equal ones have one counter. Give one of them another key',
  ]);
});

test('a key that is a header, a path and a host is told twice', () => {
  const [host = '', path = '', ...more] = messagesOf(
    LIMIT + module(HEADER) + mapping('a', HOST) + mapping('b', PATH),
  );
  assert.match(host, /^a .* the host here and a header in Module default\/gateway: .* as a host/);
  assert.match(path, /^b .* the path here and a header in Module default\/gateway: .* as a path/);
  assert.deepEqual(more, []);
});

test('a header that can say the fixed text of another group is told', () => {
  const plan = mapping('a', 'shop, {generic_key: {header: x-plan}}');
  const told = [
    'b spec.labels.gateway: the label "generic_key" of domain "gateway" is a fixed text here and a header in Mapping default/a: clients that send the fixed text use up its limits. Give the other label another key',
  ];
  assert.deepEqual(messagesOf(LIMIT + plan + mapping('b', 'shop, gold')), told);
});

test('labels of limits for targets have meanings too', () => {
  const [message = ''] = messagesOf(
    mapping('a', HEADER) +
      document(
        'RateLimit',
        'shop',
        `{targetRefs: [{kind: HTTPRoute, name: shop}], limits: [{labels: [gold, ${PATH}], rate: 1, unit: day}]}`,
      ),
  );
  assert.match(message, /^shop spec\.limits\[0\]\.labels: the label "user" .* is the path here/);
});
