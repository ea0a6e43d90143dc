import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';
import { whyNoTestHosts } from '#envoy/e2e/test-hosts.ts';
import {
  type KubeApiserver,
  kubectl,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import {
  startKubeControllers,
  whyNoKubeControllers,
} from '#kubernetes/testing/kube-controllers.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { startNode, type TestNode } from '../deploy/testing/node/start-node.ts';
import { makePodNetwork } from '../deploy/testing/pod-network.ts';
import { gatewayApiCrds } from './gateway-api-crds.ts';

/** A cluster with Gateway API and our system, as its manifests install it. */
export type ConformanceCluster = {
  readonly api: KubeApiserver;
  readonly node: TestNode;
  readonly gatewayClass: string;
  /** An address that a Gateway may ask for, and that no other gets. */
  readonly usableAddress: string;
  remove(): Promise<void>;
};

const GATEWAY_CLASS = 'gateway';
const CONTROLLER_NAME = 'gateway.internal/controller';

export function whyNoConformanceCluster(): string | undefined {
  const tools = ['gateway-echo-basic', 'gateway-conformance'].map(name => findTool(name).skip);
  return (
    whyNoKubeApiserver() ??
    whyNoKubectl() ??
    whyNoKubeControllers() ??
    whyNoTestHosts() ??
    process.env.GATEWAY_SKIP_SETPRIV ??
    (tools.find(skip => skip !== false) || undefined)
  );
}

/** Starts the cluster. What was started is removed again when a part of it fails. */
export async function startConformanceCluster(): Promise<ConformanceCluster> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(join(tmpdir(), 'gateway-conformance-'));
  chmodSync(home, 0o755);
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const network = makePodNetwork();
  stack.defer(network.remove);
  const api = await startKubeApiserver(network.address, {
    'service-cluster-ip-range': network.services,
  });
  stack.defer(api.remove);
  const controllers = startKubeControllers(api);
  stack.defer(controllers.stop);
  const node = await startNode({ api, network, home, images: await images() });
  stack.defer(node.close);
  apply(api, 'apply', '--server-side', '-k', gatewayApiCrds());
  await makeGatewayClass(api);
  const started = stack.move();
  return {
    api,
    node,
    gatewayClass: GATEWAY_CLASS,
    usableAddress: network.reserve(),
    remove: () => started.disposeAsync(),
  };
}

async function images() {
  return {
    programs: new Map([
      ['node', process.execPath],
      ['envoy', await envoyBinary()],
      ['valkey-server', execFileSync('which', ['redis-server'], { encoding: 'utf8' }).trim()],
      ['echo-basic', findTool('gateway-echo-basic').path],
    ]),
    entrypoint: (image: string) => (/\/echo-basic:/.test(image) ? ['echo-basic'] : ['envoy']),
  };
}

/** Runs kubectl. Throws with what it printed. */
function apply(api: KubeApiserver, ...args: readonly string[]): void {
  const { status, stderr } = kubectl(api, args);
  if (status !== 0) throw new Error(stderr);
}

async function makeGatewayClass({ admin }: KubeApiserver): Promise<void> {
  const { status, body } = await admin.call({
    method: 'POST',
    path: '/apis/gateway.networking.k8s.io/v1/gatewayclasses',
    body: {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: GATEWAY_CLASS },
      spec: { controllerName: CONTROLLER_NAME },
    },
  });
  if (status !== 201) throw new Error(`no GatewayClass: ${JSON.stringify(body)}`);
}
