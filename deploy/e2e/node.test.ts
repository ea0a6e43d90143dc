import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { startTestCluster, type TestCluster, whyNoTestCluster } from '../testing/test-cluster.ts';

const WAIT_MS = 60_000;

/** Each pod answers with its name and what it knows, and tells whom it answers. */
const PROGRAM = `
const { POD, PLACE, NAMESPACE } = process.env;
const { lookup } = require('node:dns/promises');
let failures = 0;
require('node:http').createServer(async (request, response) => {
  if (request.url === '/end') process.exit(1);
  if (request.url === '/fail') failures = 2;
  if (request.url === '/ready') response.statusCode = failures > 0 ? 503 : 200;
  if (request.url === '/ready' && failures > 0) failures -= 1;
  console.log('asked for ' + request.url);
  const asked = request.url.slice(1);
  const found = asked === '' ? '' : (await lookup(asked).catch(error => error)).address;
  response.end(JSON.stringify({ POD, PLACE, NAMESPACE, found, failures }));
}).listen(8080);
const udp = require('node:dgram').createSocket('udp4').bind(8080);
udp.on('message', (text, { port, address }) => udp.send(POD, port, address));
`;

const OBJECTS = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'there' } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'place', namespace: 'there' },
      data: { name: 'Berlin' },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'echo', namespace: 'there' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'echo' } },
        template: {
          metadata: { labels: { app: 'echo' } },
          spec: {
            containers: [
              {
                name: 'echo',
                image: 'node',
                command: ['node', '-e', PROGRAM],
                env: [
                  { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                  {
                    name: 'NAMESPACE',
                    valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } },
                  },
                  { name: 'PLACE', valueFrom: { configMapKeyRef: { name: 'place', key: 'name' } } },
                ],
                readinessProbe: { httpGet: { path: '/ready', port: 8080 } },
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'echo', namespace: 'there' },
      spec: {
        type: 'LoadBalancer',
        selector: { app: 'echo' },
        ports: [
          { name: 'tcp', port: 80, targetPort: 8080, protocol: 'TCP' },
          { name: 'udp', port: 53, targetPort: 8080, protocol: 'UDP' },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'headless', namespace: 'there' },
      spec: { clusterIP: 'None', selector: { app: 'echo' }, ports: [{ port: 8080 }] },
    },
  ],
});

describe('the node of the test cluster', { skip: whyNoTestCluster() ?? false }, () => {
  let cluster: TestCluster;
  let pods: ReadonlyMap<string, unknown>;

  before(async () => {
    cluster = await startTestCluster();
    ({ pods } = await cluster.startNode());
    await cluster.shell(`kubectl apply -f - <<'END'\n${OBJECTS}\nEND`);
    await ready(2);
  });
  after(() => cluster?.remove());

  const get = async (path: string) => (await cluster.shell(`kubectl -n there get ${path}`)).trim();
  const ready = (count: number) =>
    until(
      async () =>
        (await get("deployment echo -o jsonpath='{.status.readyReplicas}'")) === `${count}` ||
        undefined,
      WAIT_MS,
      `${count} ready pods`,
    );
  const balancer = () =>
    until(
      async () =>
        (await get("service echo -o jsonpath='{.status.loadBalancer.ingress[0].ip}'")) || undefined,
      WAIT_MS,
      'an address of the balancer',
    );
  /** Asks until both pods have answered. */
  const everyPod = async (said: () => Promise<string | undefined>) => {
    const seen = new Set<string | undefined>();
    await until(async () => seen.add(await said()).size === 2 || undefined, WAIT_MS, 'both pods');
    const names = (await get("pods -o jsonpath='{.items[*].metadata.name}'")).split(' ');
    assert.deepEqual([...seen].sort(), names.sort());
  };

  test('gives a container what its variables name', async () => {
    const { PLACE, NAMESPACE } = await ask(await balancer());
    assert.deepEqual({ PLACE, NAMESPACE }, { PLACE: 'Berlin', NAMESPACE: 'there' });
  });

  test('leads the addresses of a Service to each of its pods', async () => {
    const address = await balancer();
    await everyPod(async () => (await ask(address)).POD);
    const own = await get("service echo -o jsonpath='{.spec.clusterIP}'");
    await everyPod(async () => (await ask(own)).POD);
  });

  test('leads datagrams to the pods, and their answers back', async () => {
    const address = await balancer();
    await everyPod(async () => {
      const socket = createSocket('udp4');
      socket.send('hello', 53, address);
      const [answer] = await once(socket, 'message');
      socket.close();
      return String(answer);
    });
  });

  test('answers the names of Services in pods', async () => {
    const address = await balancer();
    const own = await get("service echo -o jsonpath='{.spec.clusterIP}'");
    for (const name of ['echo', 'echo.there', 'echo.there.svc.cluster.local'])
      assert.equal((await ask(address, `/${name}`)).found, own, name);
    const addresses = (await get("pods -o jsonpath='{.items[*].status.podIP}'")).split(' ');
    assert.ok(addresses.includes((await ask(address, '/headless')).found ?? ''));
    assert.equal((await ask(address, '/unknown')).found, undefined);
  });

  test('sends what a container prints to the API', async () => {
    const { POD } = await ask(await balancer(), '/something');
    await until(
      async () =>
        (await cluster.shell(`kubectl -n there logs ${POD}`)).includes('asked for /something') ||
        undefined,
      WAIT_MS,
      'the line in the log',
    );
  });

  test('keeps a pod ready until three probes in a row have failed', async () => {
    const [address = ''] = (await get("pods -o jsonpath='{.items[*].status.podIP}'")).split(' ');
    const condition = '.status.conditions[?(@.type=="Ready")].lastTransitionTime';
    const since = await get(`pods -o jsonpath='{.items[*]${condition}}'`);
    await ask(address, '/fail', 8080);
    await until(
      async () => Number((await ask(address, '/left', 8080)).failures) === 0 || undefined,
      WAIT_MS,
      'two failed probes',
    );
    assert.equal(await get(`pods -o jsonpath='{.items[*]${condition}}'`), since);
  });

  test('starts a container again that has ended', async () => {
    await assert.rejects(ask(await balancer(), '/end'));
    const restarts = "pods -o jsonpath='{.items[*].status.containerStatuses[0].restartCount}'";
    await until(
      async () => (await get(restarts)).split(' ').includes('1') || undefined,
      WAIT_MS,
      'a restart',
    );
    await ready(2);
  });

  test('gives a Service the address that it asks for, and no longer the old one', async () => {
    const old = await balancer();
    const asked = cluster.network.reserve();
    const patch = JSON.stringify({ spec: { loadBalancerIP: asked } });
    await cluster.shell(`kubectl -n there patch service echo -p '${patch}'`);
    await until(async () => (await balancer()) === asked || undefined, WAIT_MS, asked);
    assert.equal((await ask(asked)).NAMESPACE, 'there');
    await assert.rejects(ask(old));
  });

  test('ends pods that are deleted, and forgets their namespace', async () => {
    await cluster.shell('kubectl delete namespace there');
    assert.equal(pods.size, 0);
  });
});

/** Asks on a connection of its own. */
function ask(address: string, path = '/', port = 80): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve, reject) => {
    const options = { host: address, port, path, agent: false, timeout: 5_000 };
    const request = httpGet(options, async answer =>
      resolve(JSON.parse(Buffer.concat(await answer.toArray()).toString())),
    );
    request.on('error', reject).on('timeout', () => request.destroy(new Error('no answer')));
  });
}
