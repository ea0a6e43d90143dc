import assert from 'node:assert/strict';
import https from 'node:https';
import { after, before, describe, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { installCommands } from '../testing/install-commands.ts';
import { succeeds } from '../testing/node/probe.ts';
import type { PodRun } from '../testing/node/run-pod.ts';
import type { TestNode } from '../testing/node/start-node.ts';
import { startTestCluster, type TestCluster, whyNoTestCluster } from '../testing/test-cluster.ts';

/** The time of the slowest part, on a busy machine. */
const READY_MS = 60_000;
/** The authority's certificates come when sds runs. */
const STARTED_MS = 90_000;

const HOST_WITHOUT_FILES = `
apiVersion: gateway.internal/v2
kind: Host
metadata: { name: without-files, namespace: gateway-resources }
spec:
  hostname: files.example
  tls: { cert_chain_file: /etc/gateway/none.crt, private_key_file: /etc/gateway/none.key }
`;

const NOTHING = { status: 0, body: '' };
/** One copy of each process, but two where the tests need it. */
const SCALE = `
kubectl -n gateway delete statefulset postgres
kubectl -n gateway scale deployment --all --replicas=1
kubectl -n gateway scale deployment controlplane user-service --replicas=2`;
const PODS = 10;

describe('the manifests, run by a real API server', { skip: whyNoTestCluster() ?? false }, () => {
  let cluster: TestCluster;
  let pods: readonly PodRun[] = [];

  before(async () => {
    cluster = await startTestCluster();
    for (const command of installCommands('Install', 'Try it with the sample service'))
      await cluster.shell(command);
    await cluster.shell(SCALE);
    const node = await cluster.startNode();
    pods = await until(() => runningOf(node), STARTED_MS).catch((error: Error) => {
      throw new Error(cluster.log(), { cause: error });
    });
  });
  after(() => cluster?.remove());

  const podOf = (name: string) => {
    const pod = pods.find(pod => nameOf(pod) === name);
    assert.ok(pod, name);
    return pod;
  };

  test('every probe finds its container ready', async () => {
    for (const pod of pods) await until(() => isHealthy(pod), READY_MS, pod.pod.metadata.name);
  });

  test('requests go over the edge to each instance', async () => {
    const url = `https://${podOf('edge').address}:8443/user/health`;
    const ca = await rootsOf(cluster);
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
    const lines = await until(async () => {
      const found = (await cluster.shell(table))
        .trim()
        .split('\n')
        .filter(line => line !== '');
      return found.every(line => / True +True /.test(line)) ? found : undefined;
    }, READY_MS);
    assert.equal(lines.length, 3);
  });

  test('a Problem that a service finds is reported by every control plane, until it is solved', async () => {
    const planes = pods.filter(pod => nameOf(pod) === 'controlplane');
    assert.equal(planes.length, 2);
    const tell = (wanted: boolean) =>
      until(async () => {
        const said = await Promise.all(
          planes.map(({ address }) => textOf(`http://${address}:8877/status`)),
        );
        return said.every(text => text.includes('/etc/gateway/none.crt') === wanted) || undefined;
      }, READY_MS);
    await cluster.shell(`kubectl apply -f - <<'END'\n${HOST_WITHOUT_FILES}END`);
    await tell(true);
    await cluster.shell('kubectl -n gateway-resources delete host without-files');
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

/** Returns the pods when each has started its containers. */
function runningOf({ pods }: TestNode): readonly PodRun[] | undefined {
  const all = [...pods.values()].filter(
    ({ pod: { spec }, containers }) =>
      containers.size === [...(spec.initContainers ?? []), ...spec.containers].length,
  );
  return all.length === PODS ? all : undefined;
}

function nameOf({ pod }: PodRun): string | undefined {
  return pod.metadata.labels?.['app.kubernetes.io/name'];
}

async function isHealthy({ pod: { spec }, address }: PodRun): Promise<true | undefined> {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const probes = containers.flatMap(container =>
    [container.readinessProbe ?? {}, container.livenessProbe ?? {}].map(probe =>
      succeeds(container, probe, address),
    ),
  );
  return (await Promise.all(probes)).every(Boolean) || undefined;
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
async function rootsOf(cluster: TestCluster): Promise<string> {
  const text = await cluster.shell(
    `kubectl -n gateway get secret gateway-identity-edge -o jsonpath='{.data.ca\\.crt}'`,
  );
  return Buffer.from(text, 'base64').toString();
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}
