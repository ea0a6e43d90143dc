import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { edgeConfigMap, edgeObjects } from './edge-objects.ts';
import { edgeServices } from './edge-service.ts';
import { DEPLOYMENT, SYSTEM, sampleGateway } from './testing/sample-gateway.ts';

const TESTDATA = join(import.meta.dirname, 'testdata');
const STATIC_EDGE = join(import.meta.dirname, '../../deploy/kubernetes/system/edge.yaml');

const asYaml = (objects: readonly object[]) =>
  objects.map(object => stringify(object, { lineWidth: 0 })).join('---\n');

// After a change: node --test --test-update-snapshots controlplane/edges/edge-objects.test.ts
test('a Gateway becomes these objects', t => {
  const made = edgeObjects(sampleGateway(), SYSTEM);
  t.assert.fileSnapshot(asYaml(made), join(TESTDATA, 'gateway.yaml'), { serializers: [String] });
});

test('infrastructure, addresses and parameters become these objects', t => {
  const gateway = sampleGateway({
    name: 'udp.and-tcp',
    labels: { team: 'shop', 'app.kubernetes.io/name': 'other' },
    annotations: { note: 'one' },
    addresses: [{ value: '203.0.113.7', routability: '' }],
    ports: [
      { port: 53, protocol: 'UDP' },
      { port: 53, protocol: 'TCP' },
      { port: 53, protocol: 'TCP' },
    ],
    deployment: {
      min_replicas: 1,
      max_replicas: 3,
      resources: {
        requests: { cpu: '1', memory: '1Gi' },
        limits: { cpu: '3500m', memory: '3Gi' },
      },
      service: { type: 'NodePort', annotations: { pool: 'a', note: 'of the parameters' } },
    },
  });
  const made = edgeObjects(gateway, SYSTEM);
  t.assert.fileSnapshot(asYaml(made), join(TESTDATA, 'infrastructure.yaml'), {
    serializers: [String],
  });
});

const of = (objects: readonly KubernetesObject[], kind: string) => {
  const found = objects.find(object => object.kind === kind);
  assert.ok(found, kind);
  return found as KubernetesObject & { readonly spec: Readonly<Record<string, unknown>> };
};

test('a new port changes the Service alone', () => {
  const before = edgeObjects(sampleGateway(), SYSTEM);
  const ports = [{ port: 8080, protocol: 'TCP' as const }];
  const after = edgeObjects(sampleGateway({ ports }), SYSTEM);
  const changed = after.filter(
    (object, index) => JSON.stringify(object) !== JSON.stringify(before[index]),
  );
  assert.deepEqual(
    changed.map(({ kind }) => kind),
    ['Service'],
  );
});

test('the order of listeners changes nothing', () => {
  const { ports } = sampleGateway();
  const reversed = edgeObjects(sampleGateway({ ports: [...ports].reverse() }), SYSTEM);
  assert.deepEqual(reversed, edgeObjects(sampleGateway(), SYSTEM));
});

test('a Gateway without a port has no Service', () => {
  const kinds = edgeObjects(sampleGateway({ ports: [] }), SYSTEM).map(({ kind }) => kind);
  assert.ok(!kinds.includes('Service'));
});

test('pods fetch their image by the Secrets that are named', () => {
  const pullSecrets = ['registry', 'mirror'];
  const { spec } = of(edgeObjects(sampleGateway(), { ...SYSTEM, pullSecrets }), 'Deployment');
  const pod = (spec as Deployment['spec']).template.spec;
  assert.deepEqual(pod.imagePullSecrets, [{ name: 'registry' }, { name: 'mirror' }]);
});

test('pods name no user where the cluster gives them one', () => {
  const system = { ...SYSTEM, fixedUser: false };
  const { spec } = of(edgeObjects(sampleGateway(), system), 'Deployment');
  const pod = (spec as Deployment['spec']).template.spec;
  assert.deepEqual(Object.keys(pod.securityContext as Json), [
    'runAsNonRoot',
    'seccompProfile',
    'sysctls',
  ]);
});

test('another bootstrap replaces the pods', () => {
  const files = { ...SYSTEM.files, 'edge.bootstrap.yaml': 'node: {}\n' };
  const before = of(edgeObjects(sampleGateway(), SYSTEM), 'Deployment');
  const after = of(edgeObjects(sampleGateway(), { ...SYSTEM, files }), 'Deployment');
  assert.notDeepEqual(after.spec.template, before.spec.template);
});

test('a static address of a balanced Service is asked of the balancer, else it is external', () => {
  const asked = ['203.0.113.7', '203.0.113.8'];
  const addresses = asked.map(value => ({ value, routability: '' }));
  const balanced = of(edgeObjects(sampleGateway({ addresses }), SYSTEM), 'Service').spec;
  assert.equal(balanced.loadBalancerIP, '203.0.113.7');
  const deployment = { ...DEPLOYMENT, service: { type: 'ClusterIP' as const, annotations: {} } };
  const inside = of(edgeObjects(sampleGateway({ addresses, deployment }), SYSTEM), 'Service').spec;
  assert.deepEqual(inside.externalIPs, asked);
  assert.ok(!('loadBalancerIP' in inside) && !('externalTrafficPolicy' in inside));
});

type ServiceSpec = { readonly type: string; readonly clusterIP?: string };

const INSIDE: readonly [what: string, asked: readonly string[], specs: readonly string[]][] = [
  ['nothing', [], ['LoadBalancer']],
  ['one from anywhere', [':'], ['LoadBalancer']],
  ['a ClusterIP', [':Cluster'], ['ClusterIP']],
  ['a ClusterIP and one from anywhere', [':Cluster', ':'], ['LoadBalancer']],
  ['what carries no guarantee', [':testing.x-k8s.io/sentinel'], ['LoadBalancer']],
  ['what is not served', [':example.com/wan'], ['ClusterIP']],
  ['a ClusterIP and what is not served', [':Cluster', ':example.com/wan'], ['ClusterIP']],
  ['two ClusterIPs', [':Cluster', ':Cluster'], ['ClusterIP', 'ClusterIP']],
  ['a certain ClusterIP', ['10.0.0.7:Cluster'], ['ClusterIP', 'ClusterIP 10.0.0.7']],
  [
    'a certain ClusterIP and any',
    ['10.0.0.7:Cluster', ':Cluster'],
    ['ClusterIP', 'ClusterIP 10.0.0.7', 'ClusterIP'],
  ],
];

for (const [what, asked, specs] of INSIDE)
  test(`the Services of a Gateway that asks for ${what} are ${specs.join(', ')}`, () => {
    const addresses = asked.map(text => {
      const [value = '', routability = ''] = text.split(':');
      return value === '' ? { routability } : { value, routability };
    });
    const services = edgeServices(sampleGateway({ addresses }));
    const told = services.map(({ spec }) => {
      const { type, clusterIP } = spec as ServiceSpec;
      return clusterIP === undefined ? type : `${type} ${clusterIP}`;
    });
    assert.deepEqual(told, specs);
    assert.equal(new Set(services.map(({ name }) => name)).size, services.length);
  });

test('a Service beside the first one has its ports and no annotation of a balancer', () => {
  const service = { type: 'LoadBalancer' as const, annotations: { pool: 'a' } };
  const addresses = [{ routability: 'Cluster' }, { routability: 'Cluster' }];
  const gateway = sampleGateway({ addresses, deployment: { ...DEPLOYMENT, service } });
  const [first, second] = edgeObjects(gateway, SYSTEM).filter(({ kind }) => kind === 'Service');
  const spec = (object?: KubernetesObject) => object?.spec as Json;
  assert.deepEqual(spec(second).ports, spec(first).ports);
  assert.deepEqual(spec(second).selector, spec(first).selector);
  assert.equal(first?.metadata.annotations?.pool, 'a');
  assert.ok(!('pool' in (second?.metadata.annotations ?? {})));
});

test('the ConfigMap of a namespace belongs to all of its Gateways', () => {
  const other = sampleGateway({ name: 'other', uid: 'b' });
  const { metadata } = edgeConfigMap('shop', [sampleGateway(), other], SYSTEM);
  const owners = metadata.ownerReferences as readonly { readonly name: string }[];
  assert.deepEqual(
    owners.map(({ name }) => name),
    ['public', 'other'],
  );
});

type Json = Readonly<Record<string, unknown>>;
type Deployment = { readonly spec: { readonly template: { readonly spec: Json } } };

test('a pod is like those of the edge in deploy/, but for its identity, ports and probe', () => {
  const documents = parseAllDocuments(readFileSync(STATIC_EDGE, 'utf8')).map(each => each.toJS());
  const fixed = podOf(of(documents, 'Deployment'));
  const made = podOf(of(edgeObjects(sampleGateway(), SYSTEM), 'Deployment'));
  assert.deepEqual(made, fixed);
});

test('a budget is like that of the edge in deploy/', () => {
  const documents = parseAllDocuments(readFileSync(STATIC_EDGE, 'utf8')).map(each => each.toJS());
  const [fixed, made] = [documents, edgeObjects(sampleGateway(), SYSTEM)].map(objects => {
    const { selector: _, ...spec } = of(objects, 'PodDisruptionBudget').spec;
    return spec;
  });
  assert.deepEqual(made, fixed);
});

/** Returns what the pods of all edges have alike. */
function podOf(object: object): Json {
  const {
    serviceAccountName,
    topologySpreadConstraints,
    volumes,
    containers,
    securityContext,
    ...pod
  } = (object as Deployment).spec.template.spec;
  const [container = {}] = containers as readonly Json[];
  const { command, ports, readinessProbe, ...rest } = container;
  const { sysctls, ...security } = securityContext as Json;
  return { ...pod, security, container: rest };
}
