import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EdgeAddresses, NOT_ASSIGNED } from './edge-addresses.ts';
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
  const address = { type: 'IPAddress', value: '192.0.2.1', routability: '' } as const;
  const missing = (message: string) => [
    { reason: 'AddressNotUsable', field: 'spec.addresses[1]', message },
  ];
  const addresses = new Map<string, EdgeAddresses | 'unread'>([
    ['Gateway/a/well', { addresses: [address], missing: [] }],
    ['Gateway/a/odd', { addresses: [address], missing: missing('192.0.2.9 cannot be had') }],
    ['Gateway/a/forbidden', { addresses: [], missing: missing('192.0.2.9 cannot be had') }],
    ['Gateway/a/waits', { addresses: [], missing: [] }],
    ['Gateway/a/waits-for-two', { addresses: [], missing: missing(NOT_ASSIGNED) }],
    ['Gateway/a/unread', 'unread'],
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
      'Gateway/a/odd | error | spec.addresses[1] | 192.0.2.9 cannot be had',
      `Gateway/a/forbidden | error | spec | its proxies cannot be had in the cluster: ${QUOTA}`,
      `Gateway/a/waits | warning | spec.addresses | ${NOT_ASSIGNED}`,
      `Gateway/a/waits-for-two | warning | spec.addresses[1] | ${NOT_ASSIGNED}`,
    ],
  );
});
