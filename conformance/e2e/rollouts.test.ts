import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import {
  type ConformanceCluster,
  startConformanceCluster,
  whyNoConformanceCluster,
} from '../start-cluster.ts';
import { askHttp, askTcp, askUdp } from './ask-gateway.ts';
import { startLoad } from './rollout-load.ts';

const WAIT_MS = 240_000;

/** Answers over HTTP, and returns what comes over TCP and UDP. */
const PROGRAM = `
require('node:http').createServer((request, response) => response.end('here')).listen(8080);
require('node:net').createServer(socket => socket.on('error', () => {}).pipe(socket)).listen(8081);
const udp = require('node:dgram').createSocket('udp4').bind(8082);
udp.on('message', (text, { port, address }) => udp.send(text, port, address));
`;

const PORTS = [
  { name: 'http', port: 80, protocol: 'HTTP', to: 8080, route: 'HTTPRoute' },
  { name: 'tcp', port: 9001, protocol: 'TCP', to: 8081, route: 'TCPRoute' },
  { name: 'udp', port: 9002, protocol: 'UDP', to: 8082, route: 'UDPRoute' },
];

const deployment = (replicas: number, cpu = '1') => ({
  apiVersion: 'gateway.internal/v2',
  kind: 'ProxyConfig',
  metadata: { name: 'gateways' },
  spec: {
    node_group: 'gateways',
    deployment: {
      min_replicas: replicas,
      max_replicas: replicas,
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu, memory: '512Mi' } },
    },
  },
});

const OBJECTS = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'echo' },
    spec: {
      selector: { matchLabels: { app: 'echo' } },
      template: {
        metadata: { labels: { app: 'echo' } },
        spec: {
          containers: [
            {
              name: 'echo',
              image: 'node',
              command: ['node', '-e', PROGRAM],
              readinessProbe: { tcpSocket: { port: 8080 } },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'echo' },
    spec: {
      selector: { app: 'echo' },
      ports: PORTS.map(({ name, to, protocol }) => ({
        name,
        port: to,
        protocol: protocol === 'UDP' ? 'UDP' : 'TCP',
      })),
    },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'shop' },
    spec: {
      gatewayClassName: 'gateway',
      infrastructure: {
        parametersRef: { group: 'gateway.internal', kind: 'ProxyConfig', name: 'gateways' },
      },
      listeners: PORTS.map(({ name, port, protocol }) => ({ name, port, protocol })),
    },
  },
  ...PORTS.map(({ name, to, route }) => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: route,
    metadata: { name },
    spec: {
      parentRefs: [{ name: 'shop', sectionName: name }],
      rules: [{ backendRefs: [{ name: 'echo', port: to }] }],
    },
  })),
];

const options = { skip: whyNoConformanceCluster() ?? false, timeout: 4 * WAIT_MS, concurrency: 1 };

describe('a Gateway under load', options, () => {
  let cluster: ConformanceCluster;
  let address = '';

  before(async () => {
    cluster = await startConformanceCluster({ drains: true });
    await apply(deployment(2), ...OBJECTS);
    address = await until(addressOf, WAIT_MS, 'an address').catch((error: Error) => {
      throw new Error(cluster.log(), { cause: error });
    });
    for (const ask of [askHttp, askTcp, askUdp])
      await until(async () => (await ask(address)) === undefined || undefined, WAIT_MS, ask.name);
  });
  after(() => cluster?.remove());

  const apply = (...items: readonly object[]) => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    return cluster.shell(`kubectl apply -f - <<'END'\n${list}\nEND`);
  };
  const addressOf = async () => {
    const wanted =
      '{.status.conditions[?(@.type=="Programmed")].status} {.status.addresses[*].value}';
    const text = await cluster.shell(`kubectl get gateway shop -o jsonpath='${wanted}'`);
    const [isProgrammed, value] = text.split(' ');
    return isProgrammed === 'True' ? value || undefined : undefined;
  };
  /** The names of the pods that run, those that end among them. */
  const pods = async () => {
    const { body } = await cluster.api.admin.call({
      method: 'GET',
      path: '/api/v1/namespaces/default/pods',
      query: { labelSelector: 'gateway.networking.k8s.io/gateway-name=shop' },
    });
    return (body as PodList).items.map(({ metadata }) => metadata.name);
  };

  /** Changes something under load, until there are as many pods as wanted, and other ones. */
  async function underLoad(change: () => Promise<unknown>, replicas: number, isNew: boolean) {
    const old = await pods();
    const load = startLoad(address);
    await change();
    await until(
      async () => {
        const now = await pods();
        const fresh = !isNew || !now.some(name => old.includes(name));
        return (now.length === replicas && fresh) || undefined;
      },
      WAIT_MS,
      `${replicas} pods`,
    );
    await cluster.shell('kubectl rollout status deployment shop-gateway --timeout=2m');
    const { answers, losses } = await load.stop();
    assert.deepEqual([...new Set(losses)].slice(0, 5), []);
    for (const [protocol, count] of answers) assert.ok(count > 50, `${count} by ${protocol}`);
  }

  test('loses nothing while its pods are started again', async () => {
    await underLoad(
      () => cluster.shell('kubectl rollout restart deployment shop-gateway'),
      2,
      true,
    );
  });

  test('loses nothing while a ProxyConfig gives its pods other resources', async () => {
    await underLoad(() => apply(deployment(2, '2')), 2, true);
  });

  test('loses nothing while pods are added and removed', async () => {
    await underLoad(() => apply(deployment(3, '2')), 3, false);
    await underLoad(() => apply(deployment(1, '2')), 1, false);
  });
});

type PodList = { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
