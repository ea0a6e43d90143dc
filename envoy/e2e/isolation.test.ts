import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { stringify } from 'yaml';
import { envoyBinary } from '#envoy/binary.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { makeTestHosts, type TestHost, type TestHosts, whyNoTestHosts } from './test-hosts.ts';
import { until } from './until.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SERVICE_PORT = 5000;
const PROXY_PORT = 5001;
const GROUP = 'user-service-1';

/** Prints the status and body of the answer of a URL, or the code of the error. */
const FETCH = `
fetch(process.argv[1], { signal: AbortSignal.timeout(30_000) }).then(
  async answer => console.log(JSON.stringify({ status: answer.status, body: await answer.text() })),
  error => console.log(JSON.stringify({ error: error.cause?.code ?? error.name })),
);`;

type Fetched = { readonly status?: number; readonly body?: string; readonly error?: string };

const skip = whyNoTestHosts() ?? false;

describe('on two hosts, of which one has an instance with its proxy and the other the edge,', {
  skip,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-hosts-'));
  let hosts: TestHosts;
  let service: TestHost;
  let edge: TestHost;

  before(async () => {
    hosts = makeTestHosts();
    [service, edge] = hosts.hosts;
    startControlPlane(edge);
    startInstance(service);
    await startEnvoy(service, GROUP);
    await startEnvoy(edge, 'edge');
    await until(
      async () => (await fromEdge(edge.address, 8080)).status === 200 || undefined,
      90_000,
      'the edge answers',
    ).catch(error => assert.fail(`${error}\n${hosts.log()}`));
  });
  after(async () => {
    await hosts.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Requests the health, from the host of the edge. */
  async function fromEdge(address: string, port: number): Promise<Fetched> {
    return await fetchFrom(edge, `http://${address}:${port}/user/health`);
  }

  async function fetchFrom(host: TestHost, url: string): Promise<Fetched> {
    return JSON.parse(await host.run(process.execPath, ['-e', FETCH, url])) as Fetched;
  }

  function startNode(host: TestHost, main: string, env: Readonly<Record<string, string>>): void {
    host.spawn(process.execPath, [join(ROOT, main)], env);
  }

  function startControlPlane(host: TestHost): void {
    const resources = join(folder, 'resources');
    mkdirSync(resources);
    writeFileSync(join(resources, 'instance.yaml'), instanceProxy(service.address));
    writeFileSync(join(resources, 'mapping.yaml'), MAPPING);
    writeFileSync(join(folder, 'instances.yaml'), instances(service.address));
    const { address } = host;
    const sds = `${address}:18003`;
    startNode(host, 'controlplane/main.ts', {
      RESOURCES: resources,
      STATE: join(folder, 'state'),
      XDS_ADDRESS: `${address}:18000`,
      EDGE_ADDRESS: `${address}:8080`,
      SDS_ADDRESS: sds,
    });
    startNode(host, 'sds/main.ts', {
      INSTANCES_FILE: join(folder, 'instances.yaml'),
      ADDRESS: sds,
    });
  }

  function startInstance(host: TestHost): void {
    startNode(host, 'user-service/main.ts', {
      HOST: '127.0.0.1',
      PORT: String(SERVICE_PORT),
      DATABASE_FILE: join(folder, 'users.sqlite'),
      INSTANCE_NAME: GROUP,
    });
  }

  async function startEnvoy(host: TestHost, group: string): Promise<void> {
    const file = join(folder, `${group}.yaml`);
    const [xdsAddress, sdsAddress] = [`${edge.address}:18000`, `${edge.address}:18003`];
    writeFileSync(file, toEnvoyYaml(bootstrap({ nodeId: group, group, xdsAddress, sdsAddress })));
    host.spawn(await envoyBinary(), [
      '-c',
      file,
      '--disable-hot-restart',
      '--concurrency',
      '1',
      '-l',
      'warn',
    ]);
  }

  test('the edge answers by the instance', async () => {
    const { body = '' } = await fromEdge(edge.address, 8080);
    assert.equal((JSON.parse(body) as { hostname: string }).hostname, GROUP);
  });

  test('the application proxy answers the other host', async () => {
    assert.equal((await fromEdge(service.address, PROXY_PORT)).status, 200);
  });

  test("the instance's own port is refused to the other host, and answers its proxy's", async () => {
    assert.deepEqual(await fromEdge(service.address, SERVICE_PORT), { error: 'ECONNREFUSED' });
    const near = await fetchFrom(service, `http://127.0.0.1:${SERVICE_PORT}/user/health`);
    assert.equal(near.status, 200);
  });
});

const MAPPING = `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: user-service }
spec: { prefix: /user, rewrite: "", service: user-service, resolver: sds, timeout_ms: 0 }
`;

/**
 * Returns the application proxy. The network reaches it, and the instance behind it is on the
 * loopback interface.
 */
function instanceProxy(address: string): string {
  const hosts = [{ url: `tcp://127.0.0.1:${SERVICE_PORT}` }];
  return stringify({
    apiVersion: 'gateway.internal/v2',
    kind: 'ProxyConfig',
    metadata: { name: GROUP },
    spec: {
      node_group: GROUP,
      listener: { address, port: PROXY_PORT },
      virtual_hosts: [
        { name: 'all', domains: ['*'], routes: [{ prefix: '/', cluster: 'instance' }] },
      ],
      clusters: [{ name: 'instance', type: 'static', hosts }],
    },
  });
}

function instances(address: string): string {
  return stringify({
    services: { 'user-service': [{ address, port: PROXY_PORT, hostname: GROUP }] },
  });
}
