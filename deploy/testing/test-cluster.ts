import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';
import { whyNoTestHosts } from '#envoy/e2e/test-hosts.ts';
import { until } from '#envoy/e2e/until.ts';
import {
  type KubeApiserver,
  kubectlPath,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import { issueToken, mountServiceAccount } from '#kubernetes/testing/service-account.ts';
import { ROOT } from './compose-file.ts';
import { type Manifest, ofKind, type Workload, workloadsOf } from './manifests.ts';
import { makePodNetwork } from './pod-network.ts';
import { type PodSources, preparePod } from './prepare-pod.ts';
import { type RunningContainer, startContainer } from './start-container.ts';

/** A running pod, with an address that this machine reaches. */
export type TestPod = {
  readonly containers: ReadonlyMap<string, RunningContainer>;
  readonly workload: Workload;
  readonly address: string;
};

/**
 * A real API server, with stand-ins for a kubelet, a scheduler, DNS and the controllers of
 * Services.
 */
export type TestCluster = {
  readonly api: KubeApiserver;
  /** Runs a line of shell in the checkout, where `kubectl` is the cluster's. */
  shell(line: string): string;
  /** Starts the pods of these workloads, `replicas` of each. Default: one. */
  start(manifests: readonly Manifest[], options: StartOptions): Promise<readonly TestPod[]>;
  /** Returns all that containers have printed, for the message of a failed test. */
  log(): string;
  remove(): Promise<void>;
};

export type StartOptions = {
  /** Workloads without pods. */
  readonly without: readonly string[];
  readonly replicas: Readonly<Record<string, number>>;
};

const NAMESPACE = 'gateway';
/** The authority's certificates come when sds runs. */
const SECRET_MS = 40_000;

export function whyNoTestCluster(): string | undefined {
  const redis = process.env.GATEWAY_SKIP_REDIS ?? process.env.GATEWAY_SKIP_SETPRIV;
  return whyNoKubeApiserver() ?? whyNoKubectl() ?? whyNoTestHosts() ?? redis;
}

export async function startTestCluster(): Promise<TestCluster> {
  const home = mkdtempSync(join(tmpdir(), 'gateway-cluster-'));
  chmodSync(home, 0o755);
  symlinkSync(kubectlPath(), join(home, 'kubectl'));
  const network = makePodNetwork();
  const api = await startKubeApiserver(network.address);
  const pods: TestPod[] = [];
  const running: RunningContainer[] = [];
  const programs = new Map([
    ['node', process.execPath],
    ['envoy', await envoyBinary()],
    ['valkey-server', execFileSync('which', ['redis-server'], { encoding: 'utf8' }).trim()],
  ]);
  const podsHome = join(home, 'pods');
  mkdirSync(podsHome);
  const sources = apiSources(api, home);
  return {
    api,
    shell: line =>
      execFileSync('bash', ['-o', 'pipefail', '-c', line], {
        cwd: ROOT,
        encoding: 'utf8',
        env: { ...process.env, KUBECONFIG: api.kubeconfig, PATH: `${home}:${process.env.PATH}` },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    async start(manifests, { without, replicas }) {
      const workloads = workloadsOf(manifests).filter(
        ({ metadata }) => !without.includes(metadata.name),
      );
      const places = workloads.flatMap(workload =>
        Array.from({ length: replicas[workload.metadata.name] ?? 1 }, (_, index) => ({
          workload,
          name: `${workload.metadata.name}-${index}`,
          ...network.add(),
        })),
      );
      const etc = join(home, 'etc');
      mkdirSync(etc);
      const names = servicesOf(manifests, places).flatMap(({ service, chosen }) =>
        chosen.map(({ address }) => `${address} ${service.metadata.name}\n`),
      );
      writeFileSync(join(etc, 'hosts'), `127.0.0.1 localhost\n${names.join('')}`);
      await writeSlices(api, manifests, places);
      const server = new URL(api.server);
      const ofCluster = {
        KUBERNETES_SERVICE_HOST: server.hostname,
        KUBERNETES_SERVICE_PORT: server.port,
      };
      await Promise.all(
        places.map(async ({ workload, ...place }) => {
          const { spec } = workload.spec.template;
          const podHome = join(podsHome, place.name);
          mkdirSync(podHome);
          const prepared = await preparePod({
            ...place,
            spec,
            programs,
            etc,
            env: ofCluster,
            home: podHome,
            field: () => place.name,
            entrypoint: () => [],
            sources,
          });
          const containers = new Map(
            prepared.map(([{ name }, options]) => [name, startContainer(options)]),
          );
          running.push(...containers.values());
          pods.push({ containers, workload, address: place.address });
        }),
      );
      return pods;
    },
    log: () => running.map(({ log }) => log().slice(-4_000)).join('\n'),
    async remove() {
      await Promise.all(running.map(container => container.kill()));
      await api.remove();
      network.remove();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function apiSources(api: KubeApiserver, home: string): PodSources {
  const dataOf = (plural: string, name: string) =>
    until(
      async () => {
        const path = `/api/v1/namespaces/${NAMESPACE}/${plural}/${name}`;
        const { status, body } = await api.admin.call({ method: 'GET', path });
        return status === 200
          ? (body as { data: Readonly<Record<string, string>> }).data
          : undefined;
      },
      SECRET_MS,
      `${plural} ${name}`,
    );
  return {
    async secret(name) {
      const entries = Object.entries(await dataOf('secrets', name));
      return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text, 'base64')]));
    },
    configMap: name => dataOf('configmaps', name),
    async tokenFolder(account) {
      const token = await issueToken(api.admin, NAMESPACE, account);
      return (await mountServiceAccount(join(home, account), api, NAMESPACE, token)).folder;
    },
  };
}

type Place = { readonly workload: Workload; readonly name: string; readonly address: string };
type Service = Manifest & {
  readonly spec: {
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly name: string; readonly port: number }[];
  };
};

/** Returns each Service with the pods that it selects. */
function servicesOf(manifests: readonly Manifest[], places: readonly Place[]) {
  return ofKind<Service>(manifests, 'Service').map(service => ({
    service,
    chosen: places.filter(({ workload }) =>
      Object.entries(service.spec.selector).every(
        ([key, value]) => workload.spec.template.metadata.labels[key] === value,
      ),
    ),
  }));
}

/** Writes what the controller of EndpointSlices writes when the pods are ready. */
async function writeSlices(
  api: KubeApiserver,
  manifests: readonly Manifest[],
  places: readonly Place[],
) {
  for (const { service, chosen } of servicesOf(manifests, places)) {
    const { metadata, spec } = service;
    const { name } = metadata;
    const body = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: spec.ports.map(({ name: port }) => ({
        name: port,
        port: portNumber(chosen, port),
        protocol: 'TCP',
      })),
      endpoints: chosen.map(({ address }) => ({
        addresses: [address],
        conditions: { ready: true },
      })),
    };
    const path = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;
    await api.admin.call({ method: 'POST', path, body });
  }
}

function portNumber(places: readonly Place[], name: string): number | undefined {
  const specs = places.map(({ workload }) => workload.spec.template.spec);
  const containers = specs.flatMap(({ initContainers = [], containers }) => [
    ...initContainers,
    ...containers,
  ]);
  return containers.flatMap(({ ports = [] }) => ports).find(port => port.name === name)
    ?.containerPort;
}
