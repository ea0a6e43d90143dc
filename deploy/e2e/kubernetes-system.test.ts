import assert from 'node:assert/strict';
import https from 'node:https';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { commands, readDocument } from '../../readme/code-blocks.ts';
import { containersOf, manifestsOf, type Probe } from '../testing/manifests.ts';
import {
  startTestCluster,
  type TestCluster,
  type TestPod,
  whyNoTestCluster,
} from '../testing/test-cluster.ts';

const SECTIONS = readDocument('docs/how-to/kubernetes.md').split(/^## /m);
/** The commands of the page's first two sections. */
const COMMANDS = ['Install', 'Try it with the sample service']
  .flatMap(heading => commands(SECTIONS.find(section => section.startsWith(`${heading}\n`)) ?? ''))
  .filter(command => command.includes('kubectl '));
/** The time of the slowest part, on a busy machine. */
const READY_MS = 60_000;

const HOST_WITHOUT_FILES = `
apiVersion: gateway.internal/v2
kind: Host
metadata: { name: without-files, namespace: gateway-resources }
spec:
  hostname: files.example
  tls: { cert_chain_file: /etc/gateway/none.crt, private_key_file: /etc/gateway/none.key }
`;

const NOTHING = { status: 0, body: '' };
const OPTIONS = { without: ['postgres'], replicas: { controlplane: 2, 'user-service': 2 } };

describe('the manifests, run by a real API server', { skip: whyNoTestCluster() ?? false }, () => {
  let cluster: TestCluster;
  let pods: readonly TestPod[] = [];

  before(async () => {
    cluster = await startTestCluster();
    for (const command of COMMANDS) cluster.shell(command);
    pods = await cluster.start(manifestsOf('kubernetes/demo'), OPTIONS).catch((error: Error) => {
      throw new Error(cluster.log(), { cause: error });
    });
  });
  after(() => cluster?.remove());

  const podOf = (name: string) => {
    const pod = pods.find(({ workload }) => workload.metadata.name === name);
    assert.ok(pod, name);
    return pod;
  };

  test('every probe finds its container ready', async () => {
    try {
      for (const pod of pods) {
        for (const { readinessProbe = {}, livenessProbe = {}, ports = [] } of containersOf(
          pod.workload,
        )) {
          const port = (name: string | number) =>
            ports.find(each => each.name === name)?.containerPort ?? 0;
          for (const probe of [readinessProbe, livenessProbe])
            await until(
              async () => (await succeeds(probe, pod.address, port)) || undefined,
              READY_MS,
              pod.workload.metadata.name,
            );
        }
      }
    } catch (error) {
      throw new Error(cluster.log(), { cause: error });
    }
  });

  test('requests go over the edge to each instance', async () => {
    const url = `https://${podOf('edge').address}:8443/user/health`;
    const ca = rootsOf(cluster);
    const instances = pods.filter(({ containers }) => containers.has('user-service'));
    const seen = new Set<string>();
    await until(async () => {
      const { status, body } = await httpsGet(url, {
        ca,
        checkServerIdentity: () => undefined,
      }).catch(() => NOTHING);
      if (status === 200) seen.add(JSON.parse(body).resolvedname);
      return seen.size === instances.length || undefined;
    }, READY_MS);
    assert.deepEqual([...seen].sort(), instances.map(({ address }) => address).sort());
  });

  test('who comes by http is sent to the port of https that people see', async () => {
    const { address } = podOf('edge');
    const answer = await fetch(`http://${address}:8080/user/health`, { redirect: 'manual' });
    assert.equal(answer.status, 301);
    assert.equal(answer.headers.get('location'), `https://${address}:443/user/health`);
  });

  test('kubectl shows that each resource is in force', async () => {
    const table = 'kubectl -n gateway-resources get hosts,mappings,proxyconfigs --no-headers';
    const lines = await until(() => {
      const found = cluster
        .shell(table)
        .trim()
        .split('\n')
        .filter(line => line !== '');
      return found.every(line => / True +True /.test(line)) ? found : undefined;
    }, READY_MS);
    assert.equal(lines.length, 3);
  });

  test('a Problem that a service finds is reported by every control plane, until it is solved', async () => {
    const planes = pods.filter(({ workload }) => workload.metadata.name === 'controlplane');
    assert.equal(planes.length, 2);
    const tell = (wanted: boolean) =>
      until(async () => {
        const said = await Promise.all(
          planes.map(({ address }) => textOf(`http://${address}:8877/status`)),
        );
        return said.every(text => text.includes('/etc/gateway/none.crt') === wanted) || undefined;
      }, READY_MS);
    cluster.shell(`kubectl apply -f - <<'END'\n${HOST_WITHOUT_FILES}END`);
    await tell(true);
    cluster.shell('kubectl -n gateway-resources delete host without-files');
    await tell(false);
  });

  test('who comes without an identity is sent nothing, wherever he asks', async () => {
    const ports: readonly (readonly [string, number])[] = [
      ['controlplane', 18000],
      ['sds', 18003],
      ['ext-authz', 18001],
      ['ratelimit-service', 18002],
      ['user-service', 8000],
    ];
    for (const [name, port] of ports) {
      const url = `${podOf(name).address}:${port}/user/health`;
      await assert.rejects(fetch(`http://${url}`), `${name} in plain text`);
      await assert.rejects(
        httpsGet(`https://${url}`, { rejectUnauthorized: false }),
        `${name} by TLS`,
      );
    }
  });

  test('nothing that they need is refused by the API', () => {
    assert.doesNotMatch(cluster.log(), /forbidden|cannot (list|watch|get|create|update|patch)/i);
  });

  test('each ends when it is asked to, long before it would be killed', async () => {
    for (const { containers } of pods) {
      for (const [name, container] of [...containers].reverse()) {
        assert.deepEqual(await container.stop(10_000), { code: 0, signal: null }, name);
      }
    }
  });
});

async function succeeds(
  { httpGet, tcpSocket }: Probe,
  address: string,
  port: (name: string | number) => number,
) {
  if (httpGet !== undefined)
    return await answers(`http://${address}:${port(httpGet.port)}${httpGet.path}`);
  if (tcpSocket !== undefined) return await isOpen(address, port(tcpSocket.port));
  return true;
}

function httpsGet(url: string, options: https.RequestOptions): Promise<typeof NOTHING> {
  return new Promise((resolve, reject) => {
    const get = https.get(url, { ...options, agent: false, timeout: 5_000 }, answer => {
      const chunks: Buffer[] = [];
      answer.on('data', chunk => chunks.push(chunk)).on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      );
    });
    get.on('error', reject).on('timeout', () => get.destroy(new Error('no answer')));
  });
}

/** Returns what the authority's certificates are checked against. */
function rootsOf(cluster: TestCluster): string {
  const text = cluster.shell(
    `kubectl -n gateway get secret gateway-identity-edge -o jsonpath='{.data.ca\\.crt}'`,
  );
  return Buffer.from(text, 'base64').toString();
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host, port, timeout: 1_000 });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
