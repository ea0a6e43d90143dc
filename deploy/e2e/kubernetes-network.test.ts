import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { whyNoKubectl } from '#kubernetes/testing/kube-apiserver.ts';
import { MANIFESTS, WORKLOADS } from '../testing/demo-manifests.ts';
import { ofKind } from '../testing/manifests.ts';
import { mayConnect, type NetworkPolicy, type Party } from '../testing/network-policies.ts';

/** The allowed connections. All others are refused. */
const CALLS: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = {
  controlplane: { 18000: ['edge', 'ext-authz', 'ratelimit-service', 'sds', 'user-service'] },
  sds: { 18003: ['controlplane', 'edge', 'user-service'] },
  'ext-authz': { 18001: ['controlplane', 'edge'] },
  'ratelimit-service': { 18002: ['controlplane', 'edge'] },
  edge: {
    8080: ['outside'],
    8443: ['outside'],
  },
  'user-service': { 8000: ['edge'] },
  valkey: { 6379: ['ext-authz'] },
  'valkey-counters': { 6379: ['ratelimit-service'] },
  postgres: { 5432: ['user-service'] },
};

/** The allowed connections to the outside, at these ports. */
const OUTSIDE: Readonly<Record<number, readonly string[]>> = {
  443: ['controlplane', 'ext-authz', 'sds'],
  6443: ['controlplane', 'sds'],
};

const PORTS = [
  53, 80, 443, 5000, 5432, 6379, 6443, 8000, 8001, 8002, 8003, 8080, 8443, 8877, 9901, 10250, 18000,
  18001, 18002, 18003,
];

describe('on the network of the cluster', { skip: whyNoKubectl() ?? false }, () => {
  const policies = ofKind<NetworkPolicy>(MANIFESTS, 'NetworkPolicy');
  const parties = new Map<string, Party>([
    ['outside', 'outside'],
    ['stranger', { labels: {} }],
  ]);
  for (const { metadata, spec } of WORKLOADS)
    parties.set(metadata.name, { labels: spec.template.metadata.labels });

  /** Returns the names of those that reach it. */
  const callers = (to: Party, port: number) =>
    [...parties].filter(([, from]) => mayConnect(policies, from, to, port)).map(([name]) => name);

  test('there are all pods of this table, and no more', () => {
    assert.deepEqual(
      [...parties.keys()].sort(),
      [...Object.keys(CALLS), 'outside', 'stranger'].sort(),
    );
    assert.ok(policies.every(({ metadata }) => metadata.namespace === 'gateway'));
  });

  for (const [name, ports] of Object.entries(CALLS)) {
    test(`${name} is reached by whom it serves alone, where it serves them`, () => {
      const to = parties.get(name) ?? 'outside';
      for (const port of PORTS)
        assert.deepEqual(callers(to, port).sort(), ports[port] ?? [], `port ${port}`);
    });
  }

  test('a pod that no policy names reaches nobody, and nobody reaches it', () => {
    const stranger: Party = { labels: {} };
    for (const port of PORTS) {
      assert.deepEqual(callers(stranger, port), [], `port ${port}`);
      for (const [name, to] of parties)
        assert.ok(!mayConnect(policies, stranger, to, port), `${name} ${port}`);
    }
  });

  test('only pods that must reach outside do', () => {
    for (const port of PORTS) {
      const leaving = callers('outside', port).filter(name => name !== 'outside');
      assert.deepEqual(leaving.sort(), OUTSIDE[port] ?? [], `port ${port}`);
    }
  });
});
