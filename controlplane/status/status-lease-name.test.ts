import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusLeaseName } from './status-lease-name.ts';

const NAMES: readonly [id: string, name: RegExp][] = [
  ['default', /^gateway-controlplane-status$/],
  ['edge-2', /^gateway-controlplane-status-edge-2$/],
  ['shop.example', /^gateway-controlplane-status-shop\.example$/],
  ['Edge_2', /^gateway-controlplane-status-[0-9a-f]{16}$/],
  ['-x', /^gateway-controlplane-status-[0-9a-f]{16}$/],
  ['a..b', /^gateway-controlplane-status-[0-9a-f]{16}$/],
  ['x'.repeat(250), /^gateway-controlplane-status-[0-9a-f]{16}$/],
];

for (const [id, name] of NAMES)
  test(`the Lease of gateway ${id.slice(0, 20)} is called ${name.source}`, () =>
    assert.match(statusLeaseName(id), name));

test('no two gateways share a Lease', () => {
  const names = [...NAMES.map(([id]) => id), 'edge_2', 'EDGE_2'].map(statusLeaseName);
  assert.equal(new Set(names).size, names.length);
});
