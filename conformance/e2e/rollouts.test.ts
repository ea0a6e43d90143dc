import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '#envoy/e2e/until.ts';
import {
  type ConformanceCluster,
  startConformanceCluster,
  whyNoConformanceCluster,
} from '../start-cluster.ts';

const WAIT_MS = 240_000;
const LANES = 4;
/** A connection of TCP lives so long, in ms, which is less than what a pod drains for. */
const CONNECTION_MS = 10_000;
/** Between two lines of a connection, two requests and two datagrams, in ms. */
const PAUSE_MS = 50;
const ANSWER_MS = 5_000;

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

type Ask = (address: string, agent?: Agent) => Promise<string | undefined>;

/** Asks by all protocols, again and again, until `stop`. */
function startLoad(address: string) {
  const [answers, losses] = [new Map<string, number>(), [] as string[]];
  let isOver = false;
  const lane = async (protocol: string, ask: Ask) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isOver) {
      const loss = await ask(address, agent);
      if (loss === undefined) answers.set(protocol, (answers.get(protocol) ?? 0) + 1);
      else losses.push(`${protocol}: ${loss}`);
      await delay(PAUSE_MS);
    }
    agent.destroy();
  };
  const connection = () => holdConnection(address, () => isOver, answers, losses);
  const lanes = Array.from({ length: LANES }, () => [
    lane('HTTP', askHttp),
    lane('UDP', askUdp),
    connection(),
  ]).flat();
  return {
    async stop() {
      isOver = true;
      await Promise.all(lanes);
      return { answers, losses };
    },
  };
}

/** Resolves with what went wrong. */
function askHttp(host: string, agent?: Agent): Promise<string | undefined> {
  return new Promise(resolve => {
    const request = get({ host, agent: agent ?? false, timeout: ANSWER_MS }, answer => {
      const { statusCode } = answer;
      answer.resume().on('end', () => resolve(statusCode === 200 ? undefined : `${statusCode}`));
      answer.on('error', error => resolve(error.message));
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', error => resolve(error.message));
  });
}

async function askTcp(address: string): Promise<string | undefined> {
  const socket = connect(9001, address).on('error', () => {});
  socket.write('x');
  const answered = once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_MS) });
  const loss = await answered.then(
    () => undefined,
    (error: Error) => error.message,
  );
  socket.destroy();
  return loss;
}

/** As clients of UDP do, sends what is not answered once more, since a datagram may be lost. */
async function askUdp(address: string): Promise<string | undefined> {
  return (await sendDatagram(address)) && (await sendDatagram(address));
}

async function sendDatagram(address: string): Promise<string | undefined> {
  const socket = createSocket('udp4');
  socket.send('x', 9002, address);
  const answered = once(socket, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
  const loss = await answered.then(
    () => undefined,
    (error: Error) => error.message,
  );
  socket.close();
  return loss;
}

/** Uses one connection of TCP after the other, each for a while. */
async function holdConnection(
  address: string,
  isOver: () => boolean,
  answers: Map<string, number>,
  losses: string[],
): Promise<void> {
  while (!isOver()) {
    const socket = connect(9001, address);
    const end = performance.now() + CONNECTION_MS;
    try {
      while (performance.now() < end && !isOver()) {
        socket.write('x');
        await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_MS) });
        answers.set('TCP', (answers.get('TCP') ?? 0) + 1);
        await delay(PAUSE_MS);
      }
    } catch (error) {
      losses.push(`TCP: ${error instanceof Error ? error.message : error}`);
    }
    socket.on('error', () => {}).destroy();
  }
}
