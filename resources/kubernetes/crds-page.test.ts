import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KINDS } from '#resources/kinds/kinds.ts';
import { isAmbientKind, isGatewayApiKind } from '#resources/kinds/known-kinds.ts';
import { customResourceDefinitions } from './crd.ts';
import { crdsPage, fieldPoliciesPage } from './crds-page.ts';
import { kindNames, SERVED_KINDS } from './served-kinds.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy', 'kubernetes');

for (const [name, page] of [
  ['crds.yaml', crdsPage],
  ['field-policies.yaml', fieldPoliciesPage],
] as const)
  test(`deploy/kubernetes/${name} is what the schemas give (else: npx node resources/kubernetes/write-crds.ts)`, () => {
    assert.equal(readFileSync(join(FOLDER, name), 'utf8'), page());
  });

test('every kind has a definition but those of Kubernetes and of Gateway API', () => {
  const kinds = customResourceDefinitions('example.com').map(
    ({ spec }) => (spec as { names: { kind: string } }).names.kind,
  );
  const others = Object.keys(KINDS).filter(
    kind => kind === 'Secret' || isAmbientKind(kind) || isGatewayApiKind(kind),
  );
  assert.deepEqual([...kinds, ...others].sort(), Object.keys(KINDS).sort());
});

test('no two kinds have a name in common, be it short or long', () => {
  const names = SERVED_KINDS.map(kindNames).flatMap(({ plural, singular, short }) => [
    plural,
    singular,
    short,
  ]);
  assert.deepEqual(names.length, new Set(names).size);
  assert.ok(names.includes('filterpolicies'));
});
