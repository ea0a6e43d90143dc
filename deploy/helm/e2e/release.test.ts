import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { handshake } from '#envoy/e2e/https-request.ts';
import { startLoad } from '#envoy/e2e/load.ts';
import { noPebble, type Pebble, preparePebble } from '#envoy/e2e/pebble.ts';
import { until } from '#envoy/e2e/until.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { codeBlocks, readDocument } from '../../../readme/code-blocks.ts';
import { OLDER_WITH_CHART, olderVersion } from '../../../release/testing/older-version.ts';
import { clusterCommands } from '../../testing/install-commands.ts';
import {
  startTestCluster,
  type TestCluster,
  whyNoTestCluster,
} from '../../testing/test-cluster.ts';
import { makeChart } from '../chart.ts';
import { packChart } from '../pack-chart.ts';
import { forAnyServer, WHY_NO_HELM } from './run-helm.ts';

const WAIT_MS = 180_000;
const LOAD = { path: '/', connections: 4, perSecond: 100, longestMs: 3 * WAIT_MS };
const PREVIOUS = '0.0.9';
const PAGE = 'docs/how-to/helm.md';

const CA_FOLDER = '/etc/authority';
/** What sds needs to trust the authority of the tests. */
const TRUST = {
  env: { NODE_EXTRA_CA_CERTS: `${CA_FOLDER}/ca.pem` },
  volumes: [{ name: 'authority', configMap: { name: 'authority' } }],
  volumeMounts: [{ name: 'authority', mountPath: CA_FOLDER, readOnly: true }],
};
const SDS = { replicas: 1, ...TRUST };
/** One pod of each service, which a rollout replaces as it does several. */
const SERVICES = ['controlplane', 'extAuthz', 'ratelimitService', 'edge'];
const VALUES = { ...Object.fromEntries(SERVICES.map(name => [name, { replicas: 1 }])), sds: SDS };

/** Keeps the edge's connections, whose end would cross a request. */
const SHOP = `
const server = require('node:http').createServer((_, response) => response.end('here'));
server.keepAliveTimeout = 0;
server.listen(3000);
`;

const OBJECTS = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shops' } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'shop', namespace: 'shops' },
    spec: {
      selector: { matchLabels: { app: 'shop' } },
      template: {
        metadata: { labels: { app: 'shop' } },
        spec: {
          containers: [
            {
              name: 'shop',
              image: 'node',
              command: ['node', '-e', SHOP],
              readinessProbe: { tcpSocket: { port: 3000 } },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'shop', namespace: 'shops' },
    // Without an address of its own the edge reaches the pod itself, and not through this process.
    spec: { clusterIP: 'None', selector: { app: 'shop' }, ports: [{ port: 3000 }] },
  },
];

const MAPPING = {
  apiVersion: 'gateway.internal/v2',
  kind: 'Mapping',
  metadata: { name: 'shop', namespace: 'gateway-resources' },
  // A busy machine of tests is slow, and loses nothing by that.
  spec: {
    prefix: '/',
    service: 'shop.shops.svc.cluster.local:3000',
    timeout_ms: 15_000,
    connect_timeout_ms: 15_000,
  },
};

/** Its certificate and account are in the Secrets that the page gives rights to. */
const SITE = 'shop.example.com';
const siteOf = (authority: string) => [
  {
    apiVersion: 'gateway.internal/v2',
    kind: 'Host',
    metadata: { name: 'shop', namespace: 'gateway-resources' },
    spec: {
      hostname: SITE,
      acmeProvider: {
        authority,
        email: 'operator@example.com',
        privateKeySecret: { name: 'acme-account' },
      },
      tlsSecret: { name: 'shop-certificate' },
    },
  },
  {
    apiVersion: 'gateway.internal/v2',
    kind: 'Module',
    metadata: { name: 'ambassador', namespace: 'gateway-resources' },
    spec: { config: { serve_other_hosts: true } },
  },
];

const skip = WHY_NO_HELM || noPebble || (whyNoTestCluster() ?? false);

/** The release before has the chart and the programs of an older commit. */
describe('a release of the chart', { skip, timeout: 10 * WAIT_MS, concurrency: 1 }, () => {
  let cluster: TestCluster;
  let pebble: Pebble;
  let address = '';
  let old = '';
  const folder = mkdtempSync(join(tmpdir(), 'helm-'));
  const current = packChart(folder, forAnyServer(makeChart()));
  const values = join(folder, 'values.yaml');

  before(
    async () => {
      const older = await olderVersion(OLDER_WITH_CHART);
      const made: typeof import('../chart.ts') = await import(join(older, 'deploy/helm/chart.ts'));
      old = packChart(folder, forAnyServer(made.makeChart(PREVIOUS)));
      cluster = await startTestCluster({}, { [`${manifest.name}:${PREVIOUS}`]: older });
      await cluster.startNode({ drains: true });
      await apply(...OBJECTS);
      pebble = await preparePebble({
        address: cluster.network.address,
        httpPort: 80,
        tlsPort: 443,
      });
    },
    { timeout: 2 * WAIT_MS },
  );
  after(async () => {
    await cluster?.remove();
    await pebble?.remove();
    rmSync(folder, { recursive: true });
  });

  const apply = (...items: readonly object[]) => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    return cluster.shell(`kubectl apply -f - <<'END'\n${list}\nEND`);
  };
  /** Runs the commands of a section, with files of this test in place of the reader's. */
  const run = async (section: string, chart: string, only = /./) => {
    for (const command of clusterCommands(PAGE, section).filter(each => only.test(each)))
      await cluster
        .shell(
          command
            .replace(/dist\/\S+\.tgz/, chart)
            .replace('my-site/values.yaml', values)
            .replace('--wait', '--wait --timeout 5m'),
        )
        .catch(error => {
          throw new Error(`${command}\n${cluster.log()}`, { cause: error });
        });
  };
  const podNames = async () =>
    (await cluster.shell('kubectl -n gateway get pods -o name')).trim().split('\n').sort();
  const images = async () => {
    const path = '{.items[*].spec.template.spec.containers[0].image}';
    const text = await cluster.shell(`kubectl -n gateway get deployments -o jsonpath='${path}'`);
    return new Set(text.split(' ').filter(image => image.startsWith('tollwright:')));
  };

  const site = () => ({ host: address, port: 443, sni: SITE });
  const orders = () => pebble.log().match(/Issued certificate/g)?.length ?? 0;
  const secretOf = (name: string, key: string) =>
    cluster.shell(
      `kubectl -n gateway-resources get secret ${name} -o jsonpath='{.data.${key}}' | base64 --decode`,
    );

  /** Changes the release under load, until no pod of those before is left but the stores'. */
  async function underLoad(change: () => Promise<void>) {
    const before = await podNames();
    const { serial } = await handshake(site());
    const load = startLoad({ ...LOAD, base: `http://${address}` });
    await change();
    const left = await until(
      async () => {
        const names = (await podNames()).filter(name => before.includes(name));
        return names.length <= 2 ? names : undefined;
      },
      WAIT_MS,
      'the end of older pods',
    );
    const { requests, failures } = await load.stop();
    assert.deepEqual([...new Set(failures.map(({ outcome }) => outcome))], []);
    assert.ok(requests > 500, `${requests} requests`);
    assert.deepEqual(
      left.map(name => name.replace(/-[a-z0-9]+-[a-z0-9]+$/, '')),
      ['pod/valkey', 'pod/valkey-counters'],
    );
    const ordered = orders();
    assert.equal((await handshake({ ...site(), ca: await pebble.root() })).serial, serial);
    assert.equal(orders(), ordered);
  }

  test('is installed by the commands of its page, and serves a request', async () => {
    writeFileSync(values, JSON.stringify(VALUES));
    await run('Install', old, /^(?!helm)/);
    await apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'authority', namespace: 'gateway' },
      data: { 'ca.pem': readFileSync(pebble.caFile, 'utf8') },
    });
    await run('Install', old, /^helm/);
    await apply(MAPPING);
    const path = '{.status.loadBalancer.ingress[0].ip}';
    address = await until(
      async () =>
        (await cluster.shell(`kubectl -n gateway get service edge -o jsonpath='${path}'`)) ||
        undefined,
      WAIT_MS,
    );
    const isServed = () =>
      fetch(`http://${address}/`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(async () => (await isServed()) || undefined, WAIT_MS, 'an answer');
    assert.deepEqual(await images(), new Set([`tollwright:${PREVIOUS}`]));
  });

  test('orders the certificate of a Host by HTTP-01 through the pods of the edge', async () => {
    await pebble.start(address);
    const blocks = codeBlocks(readDocument('docs/how-to/https.md'), 'yaml');
    const rights = blocks.find(block => block.includes('kind: RoleBinding')) ?? '';
    await cluster.shell(`kubectl apply -f - <<'END'\n${rights}\nEND`);
    await apply(...siteOf(pebble.directory));
    const ca = await pebble.root();
    const { serial } = await until(
      () => handshake({ ...site(), ca }).catch(() => undefined),
      WAIT_MS,
      'a certificate',
    ).catch(error => {
      throw new Error(`${cluster.log()}\n${pebble.log()}`, { cause: error });
    });
    assert.match(pebble.log(), /validate w\/ HTTP/);
    const kept = new X509Certificate(await secretOf('shop-certificate', 'tls\\.crt'));
    assert.equal(kept.serialNumber, serial);
    const owner = await secretOf('acme-account', 'tls\\.key');
    assert.doesNotMatch(cluster.log(), /PRIVATE KEY/);
    assert.match(owner, /PRIVATE KEY/);
  });

  test('is upgraded to the next version and other values without a lost request', async () => {
    const edge = { replicas: 1, workers: 1, podAnnotations: { colour: 'blue' } };
    const two = { controlplane: { replicas: 2 }, sds: { ...SDS, replicas: 2 } };
    writeFileSync(values, JSON.stringify({ ...VALUES, ...two, edge }));
    await underLoad(() => run('Upgrade and go back', current, /^helm upgrade/));
    assert.deepEqual(await images(), new Set([`tollwright:${manifest.version}`]));
  });

  test('orders once when its Secret is removed, by one of two services and for two control planes', async () => {
    const before = (await handshake(site())).serial;
    const load = startLoad({ ...LOAD, base: `http://${address}` });
    await cluster.shell('kubectl -n gateway-resources delete secret shop-certificate');
    await until(
      async () => (await handshake(site())).serial !== before || undefined,
      WAIT_MS,
      'another certificate',
    ).catch(error => {
      throw new Error(`${cluster.log()}\n${pebble.log()}`, { cause: error });
    });
    const { failures } = await load.stop();
    assert.deepEqual([...new Set(failures.map(({ outcome }) => outcome))], []);
    assert.equal(orders(), 2);
    const status = '{.status.conditions[?(@.type=="Programmed")].status}';
    const host = `kubectl -n gateway-resources get host shop -o jsonpath='${status}'`;
    assert.equal(await cluster.shell(host), 'True');
  });

  test('goes back to the version before without a lost request', async () => {
    await underLoad(() => run('Upgrade and go back', current, /^helm rollback/));
    assert.deepEqual(await images(), new Set([`tollwright:${PREVIOUS}`]));
  });

  test('leaves what its page says when it is uninstalled', async () => {
    await run('Uninstall', current, /^helm uninstall/);
    const kinds = [
      ...['deployments', 'services', 'configmaps', 'serviceaccounts', 'networkpolicies'],
      ...['poddisruptionbudgets', 'roles', 'rolebindings'],
    ];
    const left = await cluster.shell(
      `kubectl -n gateway get ${kinds.join()} -o name --field-selector metadata.name!=default`,
    );
    assert.deepEqual(
      lines(left).filter(name => !/kube-root-ca.crt|configmap\/authority/.test(name)),
      [],
    );
    const whole = await cluster.shell(
      'kubectl get clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings -o name',
    );
    assert.deepEqual(
      lines(whole).filter(name => /gateway/.test(name)),
      [],
    );
    const mapping = await cluster.shell('kubectl -n gateway-resources get mappings -o name');
    assert.deepEqual(lines(mapping), ['mapping.gateway.internal/shop']);
    const secrets = lines(await cluster.shell('kubectl -n gateway get secrets -o name'));
    assert.ok(secrets.includes('secret/ext-authz-store-key'));
    assert.ok(secrets.every(name => !name.includes('helm.release')));
  });

  test('is installed again over what it had left', async () => {
    const release = ['helm install gateway', current, '--namespace gateway --values', values];
    await cluster.shell([...release, '--dry-run=server'].join(' '));
  });
});

function lines(text: string): readonly string[] {
  return text.split('\n').filter(line => line !== '');
}
