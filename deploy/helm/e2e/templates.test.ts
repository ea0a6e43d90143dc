import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { objectName, statusLeaseName } from '#controlplane/status/status-lease-name.ts';
import { whyNoKubectl } from '#kubernetes/testing/kube-apiserver.ts';
import { edgesName } from '#resources/words/gateway-edges.ts';
import {
  type Container,
  containersOf,
  type EnvironmentVariable,
  type Manifest,
  manifestsOf,
  named,
  ofKind,
  workloadsOf,
} from '../../testing/manifests.ts';
import type { NetworkPolicy } from '../../testing/network-policies.ts';
import { makeChart } from '../chart.ts';
import { packChart, writeChart } from '../pack-chart.ts';
import type { Value } from '../values.ts';
import { runHelm, WHY_NO_HELM } from './run-helm.ts';

const CHART = makeChart();
const folder = mkdtempSync(join(tmpdir(), 'helm-'));
after(() => rmSync(folder, { recursive: true }));
const chart = join(folder, 'chart');
writeChart(chart);

/** Renders the chart as `helm install` does. */
function render(values: object = {}, namespace = 'gateway', from = chart): readonly Manifest[] {
  const args = ['template', 'gateway', from, '--namespace', namespace, '--values', '-'];
  const { status, stdout, stderr } = runHelm(folder, args, values);
  assert.equal(status, 0, stderr);
  // Kubernetes reads YAML 1.1, in which 0440 is octal.
  return parseAllDocuments(stdout, { version: '1.1' })
    .map(document => document.toJS())
    .filter(manifest => manifest !== null);
}

const identity = ({ kind, metadata }: Manifest) =>
  `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

/** Objects by kind and name, without what kustomize and Helm each say in their own way. */
function comparable(manifests: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(manifests)
    // kustomize names ConfigMaps by their content, and the chart puts a checksum beside the pods.
    .replace(/(edge-bootstrap|proxy-identity)-[a-z0-9]{10}"/g, '$1"')
    .replace(/"annotations":\{"checksum\/config":"[0-9a-f]+"\},?/g, '')
    .replace(/"annotations":\{"helm.sh\/resource-policy":"keep"\},?/g, '')
    // The image of Gateways' proxies is written even where it is what they have anyway.
    .replace(',{"name":"EDGE_IMAGE","value":"envoyproxy/envoy:v1.40.0"}', '')
    .replaceAll(',}', '}');
  const all: readonly Manifest[] = JSON.parse(text);
  // A patch of kustomize puts variables first.
  for (const { env } of workloadsOf(all).flatMap(containersOf))
    (env as EnvironmentVariable[] | undefined)?.sort((a, b) => (a.name < b.name ? -1 : 1));
  return Object.fromEntries(all.map(each => [identity(each), each]));
}

/** What a value of no other kind may be, other than its default. */
const TEXTS: Readonly<Record<string, string>> = {
  imagePullPolicy: 'Never',
  'edge.service.type': 'NodePort',
  'edge.service.externalTrafficPolicy': 'Cluster',
  'controlplane.stateSize': '7Gi',
  'sessions.redisUrl': 'redis://their-sessions',
  'counters.redisUrl': 'redis://their-counters',
  'valkey.maxMemory': '71mb',
  'valkeyCounters.maxMemory': '72mb',
};

/** Helm makes the namespace of the release. */
const isOther = ({ kind, metadata }: Manifest) =>
  kind !== 'Namespace' || metadata.name !== 'gateway';

function assertSame(actual: readonly Manifest[], expected: readonly Manifest[]): void {
  const [ours, theirs] = [comparable(actual), comparable(expected.filter(isOther))];
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort());
  for (const [id, object] of Object.entries(ours)) assert.deepEqual(object, theirs[id], id);
}

const options = { skip: WHY_NO_HELM || (whyNoKubectl() ?? false) };

describe('the chart', options, () => {
  test('installs the objects of the kustomization', () => {
    assert.deepEqual(comparable(render()), comparable(manifestsOf('kubernetes').filter(isOther)));
  });

  test('installs those of Gateway API and of monitoring, when it is told to', () => {
    const all = ['kubernetes', 'kubernetes/gateway-api', 'kubernetes/monitoring'];
    assertSame(
      render({ gatewayApi: { enabled: true }, monitoring: { enabled: true } }),
      all.flatMap(manifestsOf),
    );
  });

  test('is the same in a file, whose bytes are the same each time', () => {
    const [first, second] = ['first', 'second'].map(name => packChart(join(folder, name)));
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(readFileSync(first), readFileSync(second));
    assert.deepEqual(render({}, 'gateway', first), render());
  });

  test('fits into other namespaces', () => {
    const values = {
      resources: { namespace: 'theirs', namespaces: ['shop'] },
      gatewayApi: { enabled: true },
      monitoring: { enabled: true },
    };
    const manifests = render(values, 'elsewhere');
    const text = JSON.stringify(manifests);
    assert.doesNotMatch(text, /"namespace":"gateway|\.gateway\.svc|serviceaccount:gateway:/);
    assert.doesNotMatch(text, /namespace != 'gateway'/);
    assert.match(text, /system:serviceaccount:elsewhere:sds/);
    const bindings = ofKind<Manifest & { roleRef: { name: string } }>(manifests, 'RoleBinding');
    assert.deepEqual(
      bindings
        .filter(({ roleRef }) => roleRef.name === 'gateway-resources')
        .map(({ metadata }) => metadata.namespace),
      ['theirs', 'shop'],
    );
    assert.ok(ofKind(manifests, 'Namespace').every(({ metadata }) => metadata.name === 'theirs'));
  });

  test('has no complaint of helm lint, whatever is on', () => {
    for (const isOn of [true, false]) {
      const values = {
        ...{ gatewayApi: { enabled: isOn }, monitoring: { enabled: isOn } },
        ...{ networkPolicies: { enabled: !isOn }, crds: { install: !isOn } },
      };
      const { status, stdout } = runHelm(chart, ['lint', '--strict', '.', '-f', '-'], values);
      assert.equal(status, 0, stdout);
    }
  });

  test('is rejected where resources would stand beside the secrets of the system', () => {
    const values = { resources: { namespaces: ['shop', 'gateway'] } };
    const { status, stderr } = runHelm(
      chart,
      ['template', '.', '--namespace', 'gateway', '-f', '-'],
      values,
    );
    assert.notEqual(status, 0);
    assert.match(stderr, /must not have the namespace of the release/);
  });

  test('is rejected by Helm with an empty group, which is named', () => {
    const { status, stderr } = runHelm(chart, ['template', '.', '-f', '-'], { edge: null });
    assert.notEqual(status, 0);
    assert.match(stderr, /missing property 'edge'|edge is required/);
  });

  test('is rejected by Helm with a value that its schema does not know', () => {
    const values = { edge: { service: { type: 'Loadbalancer' } } };
    const { status, stderr } = runHelm(chart, ['template', '.', '-f', '-'], values);
    assert.notEqual(status, 0);
    assert.match(stderr, /edge\/service\/type|edge\.service\.type/);
  });
});

describe('a value of the chart', options, () => {
  const values = CHART.values.filter(
    ({ schema, name }) => schema.type !== 'boolean' && name !== 'gatewayApi.edges',
  );
  const samples = new Map(values.map((value, index) => [value.name, sampleOf(value, index)]));
  const given = nested(samples);
  const everything = {
    ...given,
    ...nestedOver(given, ['counters'], { redisUrl: '' }),
    gatewayApi: { ...given.gatewayApi, enabled: true },
    monitoring: { ...given.monitoring, enabled: true },
  };

  test('stands in what is installed', () => {
    const all = render(everything);
    const text = JSON.stringify(all);
    // Tags give way to digests, the Valkey to a Redis, and what all pods have to what a pod has.
    const others = JSON.stringify(
      render({
        ...given,
        ...nestedOver(given, ['image', 'envoyImage', 'valkeyImage'], { digest: '' }),
        ...nestedOver(given, ['sessions'], { redisUrl: '' }),
        edge: {
          ...given.edge,
          nodeSelector: {},
          tolerations: [],
          affinity: {},
          priorityClassName: '',
        },
      }),
    );
    for (const { name, schema } of values)
      for (const word of wordsOf(samples.get(name))) {
        const token = schema.enum === undefined ? word : `"${word}"`;
        assert.ok(text.includes(token) || others.includes(token), `${name}: ${token}`);
      }
  });

  test('that is a switch adds objects, or leaves them out', () => {
    const ids = (values: object) => render(values).map(identity);
    const before = ids({});
    const count = (values: object) => ids(values).length - before.length;
    const definitions = before.filter(id => id.startsWith('CustomResourceDefinition'));
    assert.equal(count({ crds: { install: false } }), -definitions.length);
    assert.equal(count({ crds: { fieldPolicies: false } }), -2 * definitions.length);
    const closed = ids({ networkPolicies: { enabled: false }, monitoring: { enabled: true } });
    assert.deepEqual(
      closed.filter(id => id.startsWith('NetworkPolicy')),
      [],
    );
    assert.ok(closed.includes('PrometheusRule gateway/gateway'));
    assert.equal(count({ resources: { createNamespace: false } }), -1);
  });

  test('that is a switch or a list has its default where it is written without a value', () => {
    const values = {
      networkPolicies: { enabled: null },
      crds: { install: null, fieldPolicies: null },
      resources: { createNamespace: null, namespaces: null },
      ...{ fixedUsers: null, gatewayApi: { enabled: null } },
      ...{ instances: { namespaces: null }, identities: null },
      ...{ edge: { podAnnotations: null }, monitoring: { enabled: true, labels: null } },
    };
    assert.deepEqual(render(values), render({ monitoring: { enabled: true } }));
  });

  test('that names a Redis leaves the Valkey of the chart out', () => {
    const manifests = render({ sessions: { redisUrl: 'rediss://redis.example.com' } });
    const names = manifests.map(({ metadata }) => metadata.name);
    assert.ok(!names.includes('valkey') && names.includes('valkey-counters'));
    const url = variablesOf(manifests, 'ext-authz').get('REDIS_URL');
    assert.equal(url, 'rediss://redis.example.com');
  });

  test('that shares the edge takes the rights to make proxies away', () => {
    const manifests = render({ gatewayApi: { enabled: true, edges: 'shared' } });
    assert.equal(variablesOf(manifests, 'controlplane').get('GATEWAY_EDGES'), 'shared');
    assert.equal(variablesOf(manifests, 'sds').get('EDGES_KUBERNETES'), undefined);
    const roles = ofKind(manifests, 'ClusterRole').map(({ metadata }) => metadata.name);
    assert.ok(!roles.includes('gateway-edges') && roles.includes('gateway-api'));
  });

  test('that names Secrets of a registry gives them to the proxies of Gateways, too', () => {
    const imagePullSecrets = [{ name: 'registry' }, { name: 'mirror' }];
    const secrets = (values: object) =>
      variablesOf(render(values), 'controlplane').get('EDGE_PULL_SECRETS');
    assert.equal(secrets({ imagePullSecrets, gatewayApi: { enabled: true } }), 'registry,mirror');
    assert.equal(secrets({ gatewayApi: { enabled: true } }), undefined);
    assert.equal(secrets({ imagePullSecrets }), undefined);
  });

  test('that says where the DNS is has all pods ask there alone', () => {
    const dns = [{ ports: [{ protocol: 'UDP', port: 5353 }] }];
    const manifests = render({ networkPolicies: { dns } });
    const policies = ofKind<NetworkPolicy>(manifests, 'NetworkPolicy');
    const ports = (name: string) =>
      named(policies, name).spec.egress?.flatMap(rule => rule.ports?.map(({ port }) => port));
    assert.deepEqual(ports('dns'), [5353]);
    assert.deepEqual(ports('application-proxy'), [18000, 18003, 5353]);
  });

  test('that leaves users to the cluster names none in any pod', () => {
    const manifests = render({ fixedUsers: false, gatewayApi: { enabled: true } });
    const named = JSON.stringify(manifests).match(/"(runAsUser|runAsGroup|fsGroup)"/g);
    assert.equal(named, null);
    assert.equal(variablesOf(manifests, 'controlplane').get('EDGE_FIXED_USER'), 'false');
  });

  for (const id of ['blue', ' blue ', 'default', '', 'a.b', 'Blue Team', 'b'.repeat(60)])
    test(`that is the GATEWAY_ID "${id}" gives rights to what the control plane calls so`, () => {
      const values = { controlplane: { env: { GATEWAY_ID: id } }, gatewayApi: { enabled: true } };
      const roles = namesIn(render(values));
      const gatewayId = id.trim() || 'default';
      const edges = edgesName(gatewayId);
      assert.deepEqual(roles('Role', 'controlplane'), [
        statusLeaseName(gatewayId),
        edges,
        objectName('gateway-drained', gatewayId),
      ]);
      assert.deepEqual(roles('ClusterRole', 'gateway-edges'), [edges]);
      assert.deepEqual(roles('ClusterRole', 'gateway-edge-identities'), [edges]);
    });

  test('that leaves the number of pods to an autoscaler names none, and zero is a number', () => {
    const replicasOf = (replicas: number | null) =>
      named(workloadsOf(render({ edge: { replicas } })), 'edge').spec;
    assert.ok(!('replicas' in replicasOf(null)));
    assert.equal(replicasOf(0).replicas, 0);
  });

  test('that makes the edge a ClusterIP asks for no policy of balancers', () => {
    const manifests = render({ edge: { service: { type: 'ClusterIP' } } });
    const { spec } = named(ofKind<Manifest & { spec: object }>(manifests, 'Service'), 'edge');
    assert.ok(!('externalTrafficPolicy' in spec));
  });

  test('that names a port of https sends people there', () => {
    const manifests = render({ edge: { service: { httpsPort: 8443 } } });
    assert.equal(variablesOf(manifests, 'controlplane').get('EDGE_HTTPS_PORT'), '8443');
  });
});

/** Returns a function that tells which objects a role names. */
function namesIn(manifests: readonly Manifest[]) {
  type Role = Manifest & { rules: readonly { readonly resourceNames?: readonly string[] }[] };
  return (kind: string, name: string) =>
    named(ofKind<Role>(manifests, kind), name).rules.flatMap(
      ({ resourceNames = [] }) => resourceNames,
    );
}

function variablesOf(manifests: readonly Manifest[], name: string): ReadonlyMap<string, unknown> {
  const [container] = containersOf(named(workloadsOf(manifests), name));
  const { env = [] } = container as Container;
  return new Map(env.map(variable => [variable.name, variable.value]));
}

/** Returns a value with a word of its own. */
function sampleOf({ name, schema }: Value, index: number): unknown {
  const word = `word-${index}`;
  if (schema.type === 'integer') return 7_000 + index;
  if (name.endsWith('.digest')) return `sha256:${String(index).padStart(64, '0')}`;
  if (schema.type === 'array') return isOfTexts(schema) ? [word] : [{ name: word }];
  if (schema.type === 'object') return { [`WORD_${index}`]: word };
  return TEXTS[name] ?? word;
}

function isOfTexts({ items }: Value['schema']): boolean {
  return (items as { readonly type: string }).type === 'string';
}

function wordsOf(sample: unknown): readonly string[] {
  if (typeof sample !== 'object' || sample === null) return [String(sample)];
  return Object.values(sample).flatMap(wordsOf);
}

type Tree = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function nested(samples: ReadonlyMap<string, unknown>): Tree {
  const tree: Record<string, unknown> = {};
  for (const [name, sample] of samples) {
    const [last = '', ...folders] = name.split('.').reverse();
    const at = folders.reduceRight<Record<string, unknown>>((node, key) => {
      node[key] ??= {};
      return node[key] as Record<string, unknown>;
    }, tree);
    at[last] = sample;
  }
  return tree as Tree;
}

function nestedOver(tree: Tree, keys: readonly string[], over: object): object {
  return Object.fromEntries(keys.map(key => [key, { ...tree[key], ...over }]));
}
