import { type Document, isMap, isScalar, Scalar, visit } from 'yaml';
import { nameByGateway } from './gateway-id.ts';
import { expression, hole, inside, json } from './holes.ts';
import { addLine, CONTAINER, listAt, mapAt, nameOf, POD, setLine } from './nodes.ts';
import { keyOf } from './pods.ts';
import {
  BOOLEAN,
  COUNT,
  choice,
  type Define,
  type JsonSchema,
  NAME,
  NAMES,
  OBJECTS,
  PORT,
  pattern,
  TEXT,
  TEXTS,
} from './values.ts';

/** Kubernetes' page "Quantity". */
const QUANTITY = pattern('^[0-9]+([.][0-9]+)?(k|[MGTPE]|[KMGTPE]i)?$');
const LIST = { type: 'array', items: TEXT };

type Edit = (document: Document, define: Define) => void;

/** What differs by installation in single objects, by kind and name. */
const EDITS: Readonly<Record<string, Edit>> = {
  'Namespace gateway-resources': editResourcesNamespace,
  'Deployment controlplane'(document, define) {
    const state = listAt(document, ...POD, 'volumes').items.find(
      item => isMap(item) && item.get('name') === 'state',
    );
    if (!isMap(state)) throw new Error('the control plane has no volume "state"');
    const path = ['emptyDir', 'sizeLimit'];
    const size = define({
      name: 'controlplane.stateSize',
      schema: QUANTITY,
      default: state.getIn(path),
      description: 'Room for the last good versions of resources, on disk',
    });
    state.setIn(path, json(size));
  },
  'Deployment ext-authz'(document, define) {
    nameSecret(document, 'valkey-password', define, PASSWORDS.sessions);
    nameSecret(document, 'ext-authz-store-key', define, {
      name: 'sessions.storeKeySecret',
      description: 'Secret whose `key` seals sessions, 64 hexadecimal digits',
    });
  },
  'Deployment ratelimit-service': (document, define) =>
    nameSecret(document, 'valkey-password', define, PASSWORDS.counters),
  'Deployment valkey'(document, define) {
    nameSecret(document, 'valkey-password', define, PASSWORDS.sessions);
    limitMemory(document, define);
  },
  'Deployment valkey-counters'(document, define) {
    nameSecret(document, 'valkey-password', define, PASSWORDS.counters);
    limitMemory(document, define);
  },
  'Deployment edge': editWorkers,
  'Service edge': editEdgeService,
  'Role controlplane': nameByGateway,
  'ClusterRole gateway-edges': nameByGateway,
  'ClusterRole gateway-edge-identities': nameByGateway,
  'Role sds': document =>
    addLine(
      listAt(document, 'rules', 1, 'resourceNames'),
      inside('range $.Values.identities', new Scalar(`gateway-identity-${hole('{{ . }}')}`)),
    ),
  'NetworkPolicy metrics'(document, define) {
    const namespace = define({
      name: 'monitoring.namespace',
      schema: NAME,
      default: 'monitoring',
      description: 'Namespace of Prometheus, which the network policy lets in',
    });
    const labels = ['spec', 'ingress', 0, 'from', 0, 'namespaceSelector', 'matchLabels'];
    mapAt(document, ...labels).set('kubernetes.io/metadata.name', json(namespace));
  },
  'PodMonitor gateway-proxies': labelMonitor,
  'PodMonitor gateway-services': labelMonitor,
  'PrometheusRule gateway': labelMonitor,
};

/** Makes what differs by installation in an object, beside its pods, into values. */
export function editObject(document: Document, define: Define): void {
  EDITS[nameOf(document)]?.(document, define);
  if (document.get('kind') !== 'NetworkPolicy') return;
  editDns(document, define);
  addEgress(document, define);
}

const PASSWORDS = {
  sessions: {
    name: 'sessions.passwordSecret',
    description: 'Secret with the `password` of the store of sessions',
  },
  counters: {
    name: 'counters.passwordSecret',
    description: 'Secret with the `password` of the store of counters',
  },
} as const;

function nameSecret(
  document: Document,
  secret: string,
  define: Define,
  value: { readonly name: string; readonly description: string },
): void {
  const schema: JsonSchema = { type: 'string', minLength: 1 };
  const called = define({ ...value, schema, default: secret });
  visit(document, {
    Pair(_, { key, value: node }) {
      if (!isScalar(key) || key.value !== 'secretName' || !isScalar(node)) return;
      if (node.value === secret) Object.assign(node, json(called));
    },
  });
}

function limitMemory(document: Document, define: Define): void {
  const service = String(document.getIn(['metadata', 'name']));
  const script = listAt(document, ...CONTAINER, 'command').items.at(-1);
  const found = isScalar(script) && /(?<=maxmemory )\w+/.exec(String(script.value));
  if (!found) throw new Error(`${service} has no maxmemory`);
  const memory = define({
    name: `${keyOf(service)}.maxMemory`,
    // Without a bound (0) the kernel would end it, and what it has.
    schema: pattern('^[1-9][0-9]*(kb|mb|gb)$'),
    default: found[0],
    description: 'What it keeps in memory, less than the limit of its pod',
  });
  script.value = String(script.value).replace(found[0], hole(`{{ ${memory} }}`));
}

function editWorkers(document: Document, define: Define): void {
  const command = listAt(document, ...CONTAINER, 'command');
  const at = command.items.findIndex(item => isScalar(item) && item.value === '--concurrency') + 1;
  const workers = define({
    name: 'edge.workers',
    schema: COUNT,
    default: Number(command.get(at)),
    description: 'Threads of each Envoy, as many as its limit has CPUs',
  });
  command.set(at, json(`${workers} | int | toString`));
}

function editResourcesNamespace(document: Document, define: Define): void {
  const name = define({
    name: 'resources.namespace',
    schema: NAME,
    default: document.getIn(['metadata', 'name']),
    description: 'Namespace of resources, and of the Secrets that they name',
  });
  define({
    name: 'resources.createNamespace',
    schema: BOOLEAN,
    default: true,
    description: 'Makes that namespace. It stays when the release is uninstalled',
  });
  define({
    name: 'resources.namespaces',
    schema: NAMES,
    default: [],
    description: 'Further namespaces of resources',
  });
  define({
    name: 'instances.namespaces',
    schema: NAMES,
    default: [],
    description: 'Further namespaces whose pods `resolver: sds` finds',
  });
  document.setIn(['metadata', 'name'], json(name));
  document.setIn(['metadata', 'annotations'], document.createNode(KEEP));
}

/** Objects with this annotation stay when a release is uninstalled. */
export const KEEP = { 'helm.sh/resource-policy': 'keep' } as const;

function editEdgeService(document: Document, define: Define): void {
  const spec = mapAt(document, 'spec');
  const valueAt = (name: string, schema: JsonSchema, fallback: unknown, description: string) =>
    define({ name: `edge.service.${name}`, schema, default: fallback, description });
  const type = valueAt(
    'type',
    choice('ClusterIP', 'LoadBalancer', 'NodePort'),
    spec.get('type'),
    'How clients reach it',
  );
  spec.set('type', json(type));
  const annotations = valueAt('annotations', TEXTS, {}, 'What your cloud reads of a balancer');
  setLine(mapAt(document, 'metadata'), 'annotations', inside(`with ${annotations}`, json('.')));
  const policy = valueAt(
    'externalTrafficPolicy',
    choice('Local', 'Cluster'),
    spec.get('externalTrafficPolicy'),
    '`Local` shows the addresses of clients, by which they are limited',
  );
  setLine(spec, 'externalTrafficPolicy', inside(`if ne ${type} "ClusterIP"`, json(policy)));
  const balancerClass = valueAt('loadBalancerClass', TEXT, '', 'Which balancer serves it');
  setLine(spec, 'loadBalancerClass', inside(`with ${balancerClass}`, json('.')));
  const sources = valueAt('loadBalancerSourceRanges', LIST, [], 'Which clients a balancer lets in');
  setLine(spec, 'loadBalancerSourceRanges', inside(`with ${sources}`, json('.')));
  for (const port of listAt(document, 'spec', 'ports').items) {
    if (!isMap(port)) throw new Error('a port of the edge is no object');
    const name = String(port.get('name'));
    const about = `Its port of ${name}${name === 'https' ? ', to which http is redirected' : ''}`;
    const called = valueAt(`${name}Port`, PORT, port.get('port'), about);
    const onNodes = { type: 'integer', minimum: 0, maximum: 65_535 };
    const node = valueAt(`${name}NodePort`, onNodes, 0, `That port on nodes. 0: any`);
    port.set('port', json(called));
    const more = `{{ with ${node} }}, nodePort: {{ . }}{{ end }}`;
    port.set('targetPort', new Scalar(`${port.get('targetPort')}${hole(more)}`));
  }
}

/** Clusters have their DNS in different places. */
function editDns(document: Document, define: Define): void {
  const rules: readonly EgressRule[] = document.toJS().spec.egress ?? [];
  const at = rules.findIndex(({ ports = [] }) => ports.some(({ port }) => port === 53));
  if (at === -1) return;
  const dns = define({
    name: 'networkPolicies.dns',
    schema: OBJECTS,
    default: [rules[at]],
    description: 'The way to the DNS of the cluster, as rules of egress',
  });
  const list = listAt(document, 'spec', 'egress');
  list.delete(at);
  addLine(list, inside(`range ${dns}`, json('.')));
}

type EgressRule = { readonly ports?: readonly { readonly port: number }[] };

/** Services that people may let out to more than the gateway itself, by their policies. */
const REACHING: readonly string[] = [
  'controlplane',
  'sds',
  'ext-authz',
  'ratelimit-service',
  'edge',
];

function addEgress(document: Document, define: Define): void {
  const service = String(document.getIn(['metadata', 'name']));
  if (!REACHING.includes(service)) return;
  const rules = define({
    name: `${keyOf(service)}.egress`,
    schema: OBJECTS,
    default: [],
    description: 'What it may reach beside the gateway, as rules of a NetworkPolicy',
  });
  addLine(listAt(document, 'spec', 'egress'), inside(`range ${rules}`, json('.')));
}

function labelMonitor(document: Document, define: Define): void {
  const labels = define({
    name: 'monitoring.labels',
    schema: TEXTS,
    default: {},
    description: 'Labels by which your Prometheus Operator selects monitors and rules',
  });
  const own = document.toJS().metadata.labels ?? {};
  const words = Object.entries(own)
    .flat()
    .map(word => JSON.stringify(word));
  document.setIn(
    ['metadata', 'labels'],
    expression(`merge (dict ${words.join(' ')}) (${labels} | default dict) | toJson`),
  );
}
