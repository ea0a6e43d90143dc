import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { startRollout } from '#controlplane/rollout/rollout.ts';
import { until } from '#envoy/e2e/until.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { after } from '#process/after.ts';
import { objectParser } from '#resources/kubernetes/object-parser.ts';
import { type ServedObject, toServedObject } from '#resources/kubernetes/served-object.ts';
import { Parser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { writeKubernetesStatus } from './kubernetes-status.ts';
import { createMetrics } from './metrics.ts';

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
  return toServedObject(
    object,
    COLLECTION,
    objectParser(FILE, new Parser(DEFAULT_PARSE_OPTIONS)).parse,
  );
}

/**
 * Acts as an API with free Leases that remembers each written status. Unless it `renews`, renewals
 * of a Lease get no answer.
 */
function fakeCluster(renews = true) {
  const written: string[] = [];
  const renewed: string[] = [];
  const cluster: Cluster = {
    server: 'fake',
    namespace: 'gateway',
    call: async ({ body = {}, method, path }) => {
      if (method === 'GET') return { status: 404, body: {} };
      if (method === 'PATCH') written.push(path.split('/').at(-2) ?? '');
      if (method === 'PUT' && !renews) {
        renewed.push(path);
        return new Promise(() => {});
      }
      return { status: 200, body: { kind: 'Any', ...body, metadata: { name: 'any' } } };
    },
    open: () => Promise.reject(new Error('not asked for')),
    close: () => {},
  };
  return { cluster, written, renewed };
}

/** Returns what is known of these objects, with what services report of them. */
function factsOf(objects: readonly ServedObject[], problems: readonly Problem[]) {
  const resources = new Map(
    objects.flatMap(({ parsed }) => parsed.resources).map(each => [each.id, each]),
  );
  return {
    written: {
      resources,
      rejected: new Map(),
      unreadable: new Set<string>(),
      anonymous: new Set<string>(),
    },
    rollout: startRollout(resources),
    problems,
    compiled: [],
    outOfService: new Set<string>(),
    proxies: true,
    settled: new Set<string>(),
    objects,
    gatewayApi: [],
  };
}

const heardOf = (name: string): Problem => {
  return { ...FOUND, kind: 'Mapping', namespace: 'shop', name, file: FILE, line: 0 };
};

const COMMON = {
  namespaces: undefined,
  group: COLLECTION.group,
  gatewayId: 'default',
  metrics: createMetrics(() => ({
    ready: true,
    resources: [],
    problems: [],
    proxies: [],
    certificates: [],
  })),
  log: pino({ level: 'silent' }),
  random: Math.random,
  gateways: {
    options: { controller: 'example.com/c', sharedEdge: false, apiGroups: [] },
    edgeOf: () => ({ addresses: [], missing: [] }),
  },
  holder: 'holder',
};

test('a control plane that has just begun takes back no problem that it may not have heard of yet', async t => {
  const objects = ['aaa-reported', 'reported-again', 'zzz-well'].map(name =>
    objectOf(name, name.includes('reported') ? [FOUND] : []),
  );
  const { cluster, written } = fakeCluster();
  let time = Date.now();
  let wake = () => {};
  const status = writeKubernetesStatus({
    ...COMMON,
    cluster,
    facts: () => factsOf(objects, [heardOf('reported-again')]),
    objects: () => objects,
    now: () => time,
    after: (ms, callback) => {
      if (ms < 15_000) return after(ms, callback);
      wake = callback;
      return () => {};
    },
  });
  t.after(() => status.close());
  status.changed();
  await until(() => (written.includes('zzz-well') ? true : undefined));
  assert.deepEqual(
    written,
    ['reported-again', 'zzz-well'],
    'what was heard again, and what had no problem',
  );
  // A clock that was wrong at the start is set back.
  time -= 3_600_000;
  wake();
  await until(() => (written.includes('aaa-reported') ? true : undefined));
});

test('a control plane that ends takes back no problem, though it cannot give up its Lease at once', async () => {
  const objects = [objectOf('reported', [FOUND]), objectOf('well', [])];
  let problems = [heardOf('reported')];
  const { cluster, renewed, written } = fakeCluster(false);
  const soon = new HandTimers();
  let renew = () => {};
  let heardAll = () => {};
  const status = writeKubernetesStatus({
    ...COMMON,
    cluster,
    facts: () => factsOf(objects, problems),
    objects: () => objects,
    now: Date.now,
    after: (ms, callback) => {
      if (ms <= 1_000) return soon.after(ms, callback);
      if (ms <= 2_000) renew = callback;
      if (ms === 15_000) heardAll = callback;
      return () => {};
    },
  });
  heardAll();
  status.changed();
  await until(() => {
    soon.run();
    return written.includes('well') ? true : undefined;
  });
  const before = [...written];
  renew();
  await until(() => renewed[0]);
  void status.close();
  problems = [];
  status.changed();
  soon.run();
  assert.deepEqual(written, before);
});
