import { join } from 'node:path';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { createObject, patchObject } from '#kubernetes/write.ts';
import type { PodNetwork } from '../pod-network.ts';
import { startClusterDns } from './cluster-dns.ts';
import { followServices } from './followed-services.ts';
import type { Images } from './images.ts';
import { type Kubelet, startKubelet } from './kubelet.ts';
import { startLogServer } from './log-server.ts';
import { patientCluster } from './patient-cluster.ts';
import { serveServiceAddresses } from './service-addresses.ts';

export type NodeOptions = {
  readonly api: KubeApiserver;
  readonly network: PodNetwork;
  /** An empty folder. */
  readonly home: string;
  readonly images: Images;
  /** Whether pods end as their manifests say. Else they end soon. */
  readonly drains?: boolean;
};

/** The only node of a cluster. Its pods are processes of this machine. */
export type TestNode = {
  readonly pods: Kubelet['pods'];
  /** Returns the end of what each container has printed, and what went wrong with pods. */
  log(): string;
  close(): Promise<void>;
};

const NODE_NAME = 'node';
const LOG_CHARACTERS = 4_000;

/** Registers the node and starts what runs on it. Needs root. */
export async function startNode(options: NodeOptions): Promise<TestNode> {
  const { network, home } = options;
  const closed = new AbortController();
  const api = { ...options.api, admin: patientCluster(options.api.admin, closed.signal) };
  const errors: string[] = [];
  const onError = (error: unknown) => void errors.push(String(error));
  const dns = await startClusterDns(network.address);
  const followed = followServices(api, () => {
    dns.update(followed);
    addresses.update();
  });
  const addresses = serveServiceAddresses({ api, network, followed, onError });
  const kubelet = startKubelet({
    ...options,
    api,
    home: join(home, 'pods'),
    nodeName: NODE_NAME,
    etc: namespace => ({
      hosts: '127.0.0.1 localhost\n',
      'resolv.conf': dns.resolvConf(namespace),
    }),
    onError,
  });
  const logs = await startLogServer(network.address, kubelet.pods);
  await register(api, network.address, logs.port);
  return {
    pods: kubelet.pods,
    log() {
      const all = [...kubelet.pods].flatMap(([key, { containers }]) =>
        [...containers].map(
          ([name, { log }]) => `${key}/${name}:\n${log().slice(-LOG_CHARACTERS)}`,
        ),
      );
      return [...errors, ...all].join('\n');
    },
    async close() {
      closed.abort();
      logs.close();
      followed.close();
      await kubelet.close();
      await addresses.close();
      dns.close();
    },
  };
}

async function register({ admin }: KubeApiserver, address: string, port: number): Promise<void> {
  const target = { cluster: admin, resource: { group: '', version: 'v1', plural: 'nodes' } };
  await createObject(target, { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE_NAME } });
  await patchObject({ ...target, part: 'status' }, NODE_NAME, {
    status: {
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
      addresses: [{ type: 'InternalIP', address }],
      conditions: [{ type: 'Ready', status: 'True' }],
      capacity: { pods: '120' },
      allocatable: { pods: '120', cpu: '64', memory: '64Gi' },
    },
  });
}
