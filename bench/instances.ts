import { setTimeout as delay } from 'node:timers/promises';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import { startKubeApiserver, whyNoKubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { edsBootstrap, edsCluster } from '../sds/e2e/eds-cluster.ts';
import { startSds } from '../sds/testing/sds-process.ts';
import { createProbe, type Probe } from './instances/probe.ts';
import { addressesOf, changeSlice, fillCluster, toEndpoint } from './instances/slices.ts';
import { circumstances, writePage } from './page.ts';
import { cpuMsOf, memoryOf } from './process-usage.ts';
import { medianAndP99, toMs } from './quantile.ts';
import { toTable } from './table.ts';

/**
 * Run `npx node bench/instances.ts [seconds]`. There are 1,000 services of 20 endpoints in a real
 * Kubernetes API, of which 50 change each second. It measures what that costs the discovery
 * service, and how long it takes from the write to an Envoy that follows all of them. Prints a
 * table, and writes it to `bench/results/instances.md`. Given seconds (default 60), it only prints.
 */
const SERVICES = 1_000;
const ENDPOINTS = 20;
const CHANGES_A_SECOND = 50;
/** How many changes a second are measured, on a service of their own. */
const PROBES_A_SECOND = 5;
/** The pause before a measurement, in ms. */
const REST_MS = 5_000;

const [asked] = process.argv.slice(2).map(Number);
const seconds = asked ?? 60;
const why = whyNoKubeApiserver();
if (why !== undefined) throw new Error(why);

const begun = circumstances();
const ends: (() => unknown)[] = [];
try {
  const table = toTable(
    `${SERVICES.toLocaleString('en')} services × ${ENDPOINTS} endpoints, ${CHANGES_A_SECOND} changes/s for ${seconds} s`,
    new Map([['', await measure()]]),
  );
  process.stdout.write(table);
  if (asked === undefined) writePage('instances', page(table));
} finally {
  for (const end of ends.reverse()) await end();
}

async function measure(): Promise<Map<string, string>> {
  const api = await startKubeApiserver();
  ends.push(api.remove);
  const services = Array.from({ length: SERVICES }, (_, index) => `service-${index}`);
  await fillCluster(api.admin, services, ENDPOINTS);
  const probeOf = await createProbe(api.admin, 'user-service');

  const started = performance.now();
  const env = { SERVES: 'instances', INSTANCES_KUBERNETES: 'default', KUBECONFIG: api.kubeconfig };
  const sds = await startSds(
    { after: run => void ends.push(run as () => unknown) },
    'services: {}',
    {
      ...env,
      LOG_LEVEL: 'warn',
    },
  );
  await until(async () => ((await fetch(`${sds.url}/readyz`)).ok ? true : undefined), 60_000);
  const readyMs = performance.now() - started;
  const pid = sds.child.pid ?? 0;
  const envoy = await followAll(sds.port, services);
  const probe = probeOf.through(`http://127.0.0.1:${await envoy.listenerPort('in')}/`);
  ends.push(probe.close);
  await delay(REST_MS);
  const atRest = memoryOf(pid);
  const before = {
    sds: cpuMsOf(pid),
    envoy: cpuMsOf(envoy.pid),
    api: cpuMsOf(api.pid()),
    at: performance.now(),
  };
  const { delays, generations } = await change(seconds, services, api.admin, probe);
  const took = performance.now() - before.at;
  const share = (now: number, then: number) => `${(((now - then) / took) * 100).toFixed(0)} %`;
  const memory = memoryOf(pid);
  await sameAtEnvoy(envoy, services, generations);
  return new Map([
    ['process start → ready (reads the list), ms', toMs(readyMs)],
    ['API write → Envoy, ms (median / p99)', medianAndP99(delays)],
    ['changes that were measured so', String(delays.length)],
    ['CPU of the discovery service', share(cpuMsOf(pid), before.sds)],
    ['CPU of Envoy', share(cpuMsOf(envoy.pid), before.envoy)],
    ['CPU of the API server', share(cpuMsOf(api.pid()), before.api)],
    ['memory of the discovery service at rest, MiB', atRest.now.toFixed(0)],
    [
      '… after the changes (at its highest)',
      `${memory.now.toFixed(0)} (${memory.highest.toFixed(0)})`,
    ],
  ]);
}

/**
 * Starts an Envoy with a cluster for each service, and waits until it has the endpoints of the last
 * one.
 */
async function followAll(port: number, services: readonly string[]): Promise<EnvoyProcess> {
  const clusters = services.map(service => edsCluster(service, 'DELTA_GRPC'));
  const envoy = await startEnvoy(edsBootstrap('DELTA_GRPC', port, clusters));
  ends.push(envoy.stop);
  await until(
    async () => ((await envoy.get('/ready')).startsWith('LIVE') ? true : undefined),
    60_000,
  );
  return envoy;
}

/**
 * Changes slices for so long, each a little later than the last. Returns how long the measured ones
 * took, and how often each was changed.
 */
async function change(
  forSeconds: number,
  services: readonly string[],
  cluster: Parameters<typeof changeSlice>[0],
  probe: Probe,
): Promise<{
  readonly delays: readonly number[];
  readonly generations: ReadonlyMap<string, number>;
}> {
  const delays: number[] = [];
  const generations = new Map<string, number>();
  const writes: Promise<unknown>[] = [];
  const start = performance.now();
  const probing = (async () => {
    for (let at = 0; at < forSeconds * PROBES_A_SECOND; at++) {
      await delay(Math.max(0, start + (at * 1_000) / PROBES_A_SECOND - performance.now()));
      delays.push(await probe.move());
    }
  })();
  const others = CHANGES_A_SECOND - PROBES_A_SECOND;
  for (let at = 0; at < forSeconds * others; at++) {
    await delay(Math.max(0, start + (at * 1_000) / others - performance.now()));
    const index = (at * 7) % services.length;
    const service = services[index] ?? '';
    const generation = (generations.get(service) ?? 0) + 1;
    generations.set(service, generation);
    const endpoints = addressesOf(index, ENDPOINTS, generation).map(toEndpoint);
    writes.push(changeSlice(cluster, service, { endpoints }));
  }
  await Promise.all([probing, ...writes]);
  return { delays, generations };
}

/** Throws unless Envoy comes to have exactly what was written last. */
async function sameAtEnvoy(
  envoy: EnvoyProcess,
  services: readonly string[],
  generations: ReadonlyMap<string, number>,
): Promise<void> {
  const wanted = new Set(
    services.flatMap((service, index) =>
      addressesOf(index, ENDPOINTS, generations.get(service)).map(
        address => `${service} ${address}`,
      ),
    ),
  );
  await until(
    async () => {
      const lines = (await envoy.get('/clusters')).matchAll(
        /^(service-\d+)::([\d.]+):8080::cx_active/gm,
      );
      const found = new Set([...lines].map(([, service, address]) => `${service} ${address}`));
      return found.size === wanted.size && wanted.isSubsetOf(found) ? true : undefined;
    },
    20_000,
    'Envoy has what was written last',
  );
}

function page(table: string): string {
  return `# Instances that come and go in a Kubernetes API
${begun} Envoy ${ENVOY_VERSION} with one worker, a real kube-apiserver with etcd on the same machine. Each change replaces one endpoint of a slice.
At the end Envoy has what was written last. CPU is of one core. Made by \`npx node bench/instances.ts\`.

${table}`;
}
