import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KINDS } from '#resources/kinds/kinds.ts';
import { isAmbientKind, isGatewayApiKind } from '#resources/kinds/known-kinds.ts';
import { customResourceDefinitions } from './crd.ts';
import { crdsPage } from './crds-page.ts';
import { kindNames, SERVED_KINDS } from './served-kinds.ts';

test('deploy/kubernetes/crds.yaml is what the schemas give (else: npx node resources/kubernetes/write-crds.ts)', () => {
  const page = readFileSync(
    join(import.meta.dirname, '..', '..', 'deploy', 'kubernetes', 'crds.yaml'),
    'utf8',
  );
  assert.equal(page, crdsPage());
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
