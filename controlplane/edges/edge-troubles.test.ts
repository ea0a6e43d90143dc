import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edgeTroubles, podsFailure } from './edge-troubles.ts';

const QUOTA = 'pods "edge-1" is forbidden: exceeded quota: small';
const deployment = (status: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'edge', namespace: 'a', uid: '1' },
  status,
});
const failing = { type: 'ReplicaFailure', status: 'True', message: QUOTA };

test('a Deployment whose pods a quota forbids says so in the words of the cluster', () => {
  assert.equal(podsFailure(deployment({ conditions: [failing] })), QUOTA);
});

test('a Deployment that has pods, or has no failure, is well', () => {
  const well = { ...failing, status: 'False' };
  for (const status of [
    { conditions: [well] },
    { availableReplicas: 1, conditions: [failing] },
    {},
  ])
    assert.equal(podsFailure(deployment(status)), undefined);
  assert.equal(podsFailure(undefined), undefined);
});

test('what a Gateway lacks is told, the worst alone', () => {
  const address = { type: 'IPAddress', value: '192.0.2.1' } as const;
  const addresses = new Map([
    ['Gateway/a/well', { addresses: [address], missing: [] }],
    ['Gateway/a/odd', { addresses: [], missing: ['192.0.2.9'] }],
    ['Gateway/a/forbidden', { addresses: [], missing: ['192.0.2.9'] }],
    ['Gateway/a/waits', { addresses: [], missing: [] }],
  ]);
  const troubles = edgeTroubles([...addresses.keys()], {
    addressesOf: id => addresses.get(id),
    troubleOf: id => (id === 'Gateway/a/forbidden' ? QUOTA : undefined),
  });
  assert.deepEqual(
    troubles.map(({ gateway, severity, field, message }) =>
      [gateway, severity, field, message].join(' | '),
    ),
    [
      'Gateway/a/odd | error | spec.addresses | 192.0.2.9 cannot be had. Ask for an address that is free',
      `Gateway/a/forbidden | error | spec | its proxies cannot be had in the cluster: ${QUOTA}`,
      'Gateway/a/waits | warning | spec.addresses | the cluster has not assigned an address yet, so no client reaches it',
    ],
  );
});
