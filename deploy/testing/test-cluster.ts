import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { envoyBinary } from '#envoy/binary.ts';
import { whyNoTestHosts } from '#envoy/e2e/test-hosts.ts';
import {
  type KubeApiserver,
  kubectlPath,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import {
  startKubeControllers,
  whyNoKubeControllers,
} from '#kubernetes/testing/kube-controllers.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { ROOT } from './compose-file.ts';
import type { Images } from './node/images.ts';
import { type NodeOptions, startNode, type TestNode } from './node/start-node.ts';
import { makePodNetwork, type PodNetwork } from './pod-network.ts';

/** A real API server, Kubernetes' own controllers, and a small node that runs pods as processes. */
export type TestCluster = {
  readonly api: KubeApiserver;
  readonly network: PodNetwork;
  /** Runs a line of shell in the checkout, where `kubectl` and `helm` are the cluster's. */
  shell(line: string): Promise<string>;
  /**
   * Starts the controllers and the node. From now on workloads become pods. With `drains` pods end
   * as their manifests say, by hooks and with all of their time. Without it they end soon. Call it
   * once.
   */
  startNode(options?: Pick<NodeOptions, 'drains'>): Promise<TestNode>;
  /** Returns what containers have printed last, for the message of a failed test. */
  log(): string;
  remove(): Promise<void>;
};

/** Files of programs, by the image that runs them. */
type Programs = Readonly<Record<string, string>>;

/** Folders of other versions of our sources, by their image, such as `tollwright:0.0.9`. */
type Sources = Readonly<Record<string, string>>;

const run = promisify(execFile);
const LONGEST_OUTPUT = 64 * 1024 * 1024;

/** Returns why there can be no such cluster, or undefined when there can. */
export function whyNoTestCluster(): string | undefined {
  const tools = process.env.GATEWAY_SKIP_REDIS ?? process.env.GATEWAY_SKIP_SETPRIV;
  return (
    whyNoKubeApiserver() ??
    whyNoKubectl() ??
    whyNoKubeControllers() ??
    whyNoTestHosts() ??
    process.env.GATEWAY_SKIP_OPENSSL ??
    tools
  );
}

/**
 * Starts a cluster without a node, so that workloads can be changed before they have pods. Its pods
 * run our processes, Envoy and Redis, and `others`, programs by the name of an image. Needs root.
 */
export async function startTestCluster(
  others: Programs = {},
  sources: Sources = {},
): Promise<TestCluster> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(join(tmpdir(), 'gateway-cluster-'));
  chmodSync(home, 0o755);
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  symlinkSync(kubectlPath(), join(home, 'kubectl'));
  const helm = findTool('gateway-helm');
  if (helm.path !== '') symlinkSync(helm.path, join(home, 'helm'));
  const network = makePodNetwork();
  stack.defer(network.remove);
  const flags = { 'service-cluster-ip-range': network.services };
  const api = await startKubeApiserver(network.address, flags);
  stack.defer(api.remove);
  const images = await imagesOf(others, sources);
  const started = stack.move();
  let node: TestNode | undefined;
  return {
    api,
    network,
    async shell(line) {
      const { stdout } = await run('bash', ['-o', 'pipefail', '-c', line], {
        cwd: ROOT,
        env: {
          ...process.env,
          HOME: home,
          KUBECONFIG: api.kubeconfig,
          PATH: `${home}:${process.env.PATH}`,
        },
        maxBuffer: LONGEST_OUTPUT,
      });
      return stdout;
    },
    async startNode(options = {}) {
      const controllers = startKubeControllers(api);
      started.defer(controllers.stop);
      node = await startNode({ api, network, home, images, ...options });
      started.defer(node.close);
      return node;
    },
    log: () => node?.log() ?? '',
    remove: () => started.disposeAsync(),
  };
}

async function imagesOf(others: Programs, sources: Sources): Promise<Images> {
  const programs = new Map([
    ['node', process.execPath],
    ['envoy', await envoyBinary()],
    ['valkey-server', execFileSync('which', ['redis-server'], { encoding: 'utf8' }).trim()],
    ...Object.entries(others),
  ]);
  const entrypoints = new Set(['envoy', ...Object.keys(others)]);
  return { programs, entrypoints, sources: new Map(Object.entries(sources)) };
}
