import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { createObject } from '#kubernetes/write.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { installCommands } from '../deploy/testing/install-commands.ts';
import type { TestNode } from '../deploy/testing/node/start-node.ts';
import { startTestCluster, whyNoTestCluster } from '../deploy/testing/test-cluster.ts';
import { gatewayApiCrds } from './gateway-api-crds.ts';

/** A cluster with Gateway API and our system, as its manifests install it. */
export type ConformanceCluster = {
  readonly api: KubeApiserver;
  readonly gatewayClass: string;
  /** An address that a Gateway may ask for, and that no other gets. */
  readonly usableAddress: string;
  readonly node: TestNode;
  /** Runs a line of shell, where `kubectl` is the cluster's. */
  shell(line: string): Promise<string>;
  /** Returns what containers have printed last. */
  log(): string;
  remove(): Promise<void>;
};

const GATEWAY_CLASS = 'gateway';
/** The suite waits for what the system does, and not for its start. */
const READY = 'kubectl -n gateway wait deployment --all --for=condition=Available --timeout=3m';
const GATEWAY_API = { group: 'gateway.networking.k8s.io', version: 'v1' };
/** One copy of each process but the control plane, and no edge beside those of Gateways. */
const scale = (planes: number) => `
kubectl -n gateway scale deployment --all --replicas=1
kubectl -n gateway scale deployment controlplane --replicas=${planes}
kubectl -n gateway scale deployment edge --replicas=0`;

/** Returns why the suite cannot run here, or undefined when it can. */
export function whyNoConformanceCluster(): string | undefined {
  const tools = ['gateway-echo-basic', 'gateway-conformance'].map(name => findTool(name).skip);
  return whyNoTestCluster() ?? (tools.find(skip => skip !== false) || undefined);
}

type ClusterOptions = {
  /** How many control planes run. Default: 1. */
  readonly planes?: number;
  /** Whether pods end as their manifests say. Default: they end soon. */
  readonly drains?: boolean;
};

export async function startConformanceCluster({
  planes = 1,
  drains = false,
}: ClusterOptions = {}): Promise<ConformanceCluster> {
  const cluster = await startTestCluster({ 'echo-basic': findTool('gateway-echo-basic').path });
  const { api, network, log, remove } = cluster;
  try {
    await cluster.shell(`kubectl apply --server-side -k ${gatewayApiCrds()}`);
    for (const command of installCommands('Install')) await cluster.shell(command);
    await cluster.shell('kubectl apply -k deploy/kubernetes/gateway-api');
    await cluster.shell(scale(planes));
    const resource = { ...GATEWAY_API, plural: 'gatewayclasses' };
    await createObject({ cluster: api.admin, resource }, GATEWAY_CLASS_OBJECT);
    const node = await cluster.startNode({ drains });
    await cluster.shell(READY);
    const usableAddress = network.reserve();
    const { shell } = cluster;
    return { api, node, shell, gatewayClass: GATEWAY_CLASS, usableAddress, log, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const GATEWAY_CLASS_OBJECT = {
  apiVersion: `${GATEWAY_API.group}/${GATEWAY_API.version}`,
  kind: 'GatewayClass',
  metadata: { name: GATEWAY_CLASS },
  spec: { controllerName: DEFAULT_CONTROLLER },
};
