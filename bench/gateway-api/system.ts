import http from 'node:http';
import { credentials } from '@grpc/grpc-js';
import { inCluster } from '#controlplane/testing/in-cluster.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import type { ControlPlaneProcess } from '#envoy/e2e/control-plane-process.ts';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { type KubeApiserver, startKubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { createObject } from '#kubernetes/write.ts';
import { after } from '#process/after.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { applyGatewayApi } from '#resources/kubernetes/testing/gateway-api.ts';
import { applyDefinitions } from '#resources/kubernetes/testing/objects.ts';
import { gatewayGroup } from '#resources/words/gateway-group.ts';
import { connect } from '#xds/client.ts';
import { makePodNetwork } from '../../deploy/testing/pod-network.ts';
import { startSds } from '../../sds/testing/sds-process.ts';
import { createBackend, createClass, NAMESPACE } from './routes.ts';

/** A real API server, our control plane and discovery service, and an HTTP server behind routes. */
export type ScaleSystem = {
  readonly api: KubeApiserver;
  readonly plane: ControlPlaneProcess;
  /** Starts a real Envoy for a Gateway. */
  startProxy(gateway: string): Promise<EnvoyProcess>;
  /** Follows a Gateway as an Envoy does, and ACKs all, in this process. */
  followAsProxy(gateway: string): void;
  /** Returns an address that a Gateway's port is free at. */
  freePort(): Promise<number>;
  stop(): Promise<void>;
};

/** The API server limits what the control plane may ask, as a cluster does by default. */
const FAIRNESS = { 'enable-priority-and-fairness': 'true' };
/** As the manifests start it. */
const NODE_OPTIONS = '--max-semi-space-size=4';
const START_MS = 60_000;

export async function startScaleSystem(): Promise<ScaleSystem> {
  await using stack = new AsyncDisposableStack();
  const network = makePodNetwork();
  stack.defer(network.remove);
  const api = await startKubeApiserver(network.address, {
    ...FAIRNESS,
    'service-cluster-ip-range': network.services,
  });
  stack.defer(api.remove);
  await Promise.all([applyDefinitions(api.admin), applyGatewayApi(api.admin)]);
  const backend = http.createServer((_request, response) => void response.end('here'));
  await new Promise<void>(resolve => backend.listen(0, network.address, resolve));
  stack.defer(() => {
    backend.close();
    backend.closeAllConnections();
  });
  await createBackend(api.admin, backend.address() as { address: string; port: number });
  await createClass(api.admin);
  const env = { KUBECONFIG: api.kubeconfig, SERVES: 'instances', INSTANCES_KUBERNETES: NAMESPACE };
  const sds = await startSds(
    { after: run => stack.defer(run as () => Promise<void>) },
    'services: {}',
    env,
  );
  await until(async () => (await fetch(`${sds.url}/readyz`)).ok || undefined, START_MS);
  const cluster = await inCluster(api, NAMESPACE);
  stack.defer(cluster.remove);
  await grantAll(api);
  const address = `127.0.0.1:${sds.port}`;
  const plane = await cluster.start({
    RESOURCES_KUBERNETES: '*',
    SDS_ADDRESS: address,
    NODE_OPTIONS,
  });
  stack.defer(plane.stop);
  const started = stack.move();
  return {
    api,
    plane,
    freePort,
    async startProxy(gateway) {
      const group = gatewayGroup(NAMESPACE, gateway);
      const addresses = { xdsAddress: plane.xds, sdsAddress: address };
      const envoy = await startEnvoy(bootstrap({ nodeId: `${gateway}-1`, group, ...addresses }));
      started.defer(envoy.stop);
      return envoy;
    },
    followAsProxy(gateway) {
      const node = { id: `${gateway}-1`, cluster: gatewayGroup(NAMESPACE, gateway) };
      const connection = connect({
        address: plane.xds,
        credentials: credentials.createInsecure(),
        node,
        typeUrls: [CLUSTER, LISTENER, ROUTE_CONFIGURATION],
        onUpdate: update => update.ack(),
        random: Math.random,
        after,
      });
      started.defer(connection.close);
    },
    stop: () => started.disposeAsync(),
  };
}

/** Its rights are not what is measured. Only members of `system:masters` have no limits. */
async function grantAll({ admin }: KubeApiserver): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const target = {
    cluster: admin,
    resource: { group, version: 'v1', plural: 'clusterrolebindings' },
  };
  const name = `controlplane-${NAMESPACE}`;
  await createObject(target, {
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }],
  } as { metadata: { name: string } });
}
