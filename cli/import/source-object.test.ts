import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readObjects } from './source-object.ts';

const LIST = `# objects
apiVersion: v1
kind: List
items:
- apiVersion: networking.k8s.io/v1
  kind: Ingress
  metadata: { name: a, namespace: apps }
- &b
  apiVersion: v1
  kind: Service
  metadata:
    name: b
- *b
`;

test('objects of a list and of documents have the lines of their fields', () => {
  const objects = readObjects('a.yaml', `${LIST}---\n${LIST}`);
  assert.deepEqual(
    objects.map(({ group, kind, lineOf, name, namespace }) => [
      group,
      kind,
      namespace,
      name,
      lineOf(['metadata', 'name']),
    ]),
    [0, 14].flatMap(before => [
      ['networking.k8s.io', 'Ingress', 'apps', 'a', before + 7],
      ['', 'Service', undefined, 'b', before + 12],
      ['', 'Service', undefined, 'b', before + 12],
    ]),
  );
});

test('an empty file has no objects', () =>
  assert.deepEqual(readObjects('a.yaml', '# nothing\n'), []));

const UNREADABLE: readonly (readonly [what: string, text: string, message: RegExp])[] = [
  ['broken YAML', '# nothing\n---\na: [', /^a\.yaml:3: /],
  ['a text', 'just a text', /^a\.yaml:1: it is no object$/],
  ['an object without a name', 'apiVersion: v1\nkind: Service\n', /^a\.yaml:1: an object has /],
  [
    'an annotation that stands twice',
    'apiVersion: v1\nkind: Service\nmetadata: { name: a, name: b }\n',
    /^a\.yaml:1: .*twice|^a\.yaml:\d+: .*name/,
  ],
  ['too deep nesting', `${'['.repeat(100_000)}`, /^a\.yaml:1: /],
];

for (const [what, text, message] of UNREADABLE)
  test(`${what} ends the import, since it might restrict something`, () => {
    assert.throws(() => readObjects('a.yaml', text), { message });
  });
