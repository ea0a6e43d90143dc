import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { until } from '#envoy/e2e/until.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { after } from '#process/after.ts';
import { objectParser } from '#resources/kubernetes/object-parser.ts';
import { type ServedObject, toServedObject } from '#resources/kubernetes/served-object.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import { writeKubernetesStatus } from './kubernetes-status.ts';
import { createMetrics } from './metrics.ts';
import { startRollout } from './rollout.ts';

const COLLECTION = { group: 'gateway.internal', version: 'v2', plural: 'mappings' };
const FILE = 'Kubernetes mappings.gateway.internal';
const FOUND = { severity: 'error', message: 'a service has found it' } as const;

function objectOf(name: string, problems: readonly object[]): ServedObject {
  const status = {
    conditions: [{ type: 'Accepted', status: 'False', reason: 'Problems', observedGeneration: 1 }],
    problems,
  };
  const object = {
    apiVersion: 'gateway.internal/v2',
    kind: 'Mapping',
    metadata: { name, namespace: 'shop', uid: name, resourceVersion: '1', generation: 1 },
    spec: { prefix: `/${name}/`, service: 'a' },
    status,
  };
  return toServedObject(object, COLLECTION, objectParser(FILE, DEFAULT_PARSE_OPTIONS).parse);
}

/** An API whose Leases are free, and which remembers whose status was written. */
function fakeCluster() {
  const written: string[] = [];
  const cluster: Cluster = {
    server: 'fake',
    namespace: 'gateway',
    call: async ({ body = {}, method, path }) => {
      if (method === 'GET') return { status: 404, body: {} };
      if (method === 'PATCH') written.push(path.split('/').at(-2) ?? '');
      return { status: 200, body: { kind: 'Any', ...body, metadata: { name: 'any' } } };
    },
    open: () => Promise.reject(new Error('not asked for')),
    close: () => {},
  };
  return { cluster, written };
}

test('a control plane that has just begun takes back no problem that it may not have heard of yet', async t => {
  const objects = ['aaa-reported', 'reported-again', 'zzz-well'].map(name =>
    objectOf(name, name.includes('reported') ? [FOUND] : []),
  );
  const resources = new Map(objects.flatMap(({ parsed }) => parsed.resources).map(each => [each.id, each]));
  const heard: Problem = {
    ...FOUND,
    kind: 'Mapping',
    namespace: 'shop',
    name: 'reported-again',
    file: FILE,
    line: 0,
  };
  const { cluster, written } = fakeCluster();
  let time = Date.now();
  let wake = () => {};
  const status = writeKubernetesStatus({
    cluster,
    group: COLLECTION.group,
    gatewayId: 'default',
    facts: () => ({
      written: { resources, refused: new Map(), unreadable: new Set(), anonymous: new Set() },
      rollout: startRollout(resources),
      problems: [heard],
      outOfService: new Set(),
      proxies: true,
      objects,
    }),
    objects: () => objects,
    metrics: createMetrics(() => ({ ready: true, resources: [], problems: [], proxies: [] })),
    log: pino({ level: 'silent' }),
    now: () => time,
    after: (ms, callback) => {
      if (ms < 15_000) return after(ms, callback);
      wake = callback;
      return () => {};
    },
    random: Math.random,
  });
  t.after(() => status.close());
  status.changed();
  await until(() => (written.includes('zzz-well') ? true : undefined));
  assert.deepEqual(written, ['reported-again', 'zzz-well'], 'what was heard again, and what had no problem');
  time += 15_000;
  wake();
  await until(() => (written.includes('aaa-reported') ? true : undefined));
});
