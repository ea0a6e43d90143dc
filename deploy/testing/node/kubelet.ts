import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { follow } from '#kubernetes/follow.ts';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { patchObject } from '#kubernetes/write.ts';
import { after } from '#process/after.ts';
import type { PodNetwork } from '../pod-network.ts';
import { apiSources } from './api-sources.ts';
import type { Images } from './images.ts';
import { type PodObject, readPod } from './pod-object.ts';
import { type PodRun, runPod } from './run-pod.ts';

export type KubeletOptions = {
  readonly api: KubeApiserver;
  readonly network: PodNetwork;
  readonly nodeName: string;
  /** An empty folder. */
  readonly home: string;
  readonly images: Images;
  /** Whether pods end by their hooks, with all of their time. */
  readonly drains?: boolean | undefined;
  /** Returns the files of /etc of the pods of a namespace. */
  etc(namespace: string): Readonly<Record<string, string>>;
  onError(error: unknown): void;
};

export type Kubelet = {
  /** The pods that run, by `namespace/name`. */
  readonly pods: ReadonlyMap<string, PodRun>;
  close(): Promise<void>;
};

const PODS = { group: '', version: 'v1', plural: 'pods' };
const SHORT_MS = 5_000;
/** What a pod that says nothing else has, in seconds. */
const GRACE_SECONDS = 30;

/**
 * Runs all pods of the cluster as processes of this machine. It is also their scheduler. Needs
 * root.
 */
export function startKubelet(options: KubeletOptions): Kubelet {
  const { network, onError } = options;
  const pods = new Map<string, PodRun>();
  const ending = new Set<Promise<void>>();
  mkdirSync(options.home);
  const end = (key: string, run: PodRun, graceMs: number, hooks = false) => {
    pods.delete(key);
    const ended = run.stop(graceMs, hooks).catch(onError);
    ending.add(ended);
    return ended.finally(() => ending.delete(ended));
  };
  const reconcile = async (key: string, pod: PodObject | undefined) => {
    const run = pods.get(key);
    if (run !== undefined && run.pod.metadata.uid !== pod?.metadata.uid) {
      await end(key, run, 0);
      return await reconcile(key, pod);
    }
    if (pod === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (run !== undefined)
        await end(key, run, options.drains ? graceMs(pod) : SHORT_MS, options.drains);
      return await forget(options, pod);
    }
    if (run !== undefined) return;
    pods.set(key, begin(options, pod));
    if (pod.spec.nodeName === undefined) await bind(options, pod);
  };
  const { close } = follow({
    cluster: options.api.admin,
    resource: PODS,
    read: readPod,
    onChange(objects, changed) {
      const keys = changed.size === 0 ? objects.keys() : changed;
      for (const key of keys) reconcile(key, objects.get(key)).catch(onError);
    },
    after,
    random: Math.random,
  });
  return {
    pods,
    async close() {
      close();
      for (const [key, run] of pods) void end(key, run, 0);
      await Promise.all(ending);
    },
  };

  function begin({ api, images, home, etc }: KubeletOptions, pod: PodObject): PodRun {
    const { namespace, name, uid } = pod.metadata;
    const machine = network.add();
    const folder = join(home, uid);
    const resource = { ...PODS, namespace };
    const server = new URL(api.server);
    let writing = Promise.resolve();
    const run = runPod({
      pod,
      machine,
      home: folder,
      images,
      etc: etc(namespace),
      env: { KUBERNETES_SERVICE_HOST: server.hostname, KUBERNETES_SERVICE_PORT: server.port },
      sources: signal => apiSources(api, namespace, folder, signal),
      onStatus(status) {
        const write = () =>
          patchObject({ cluster: api.admin, resource, part: 'status' }, name, {
            metadata: { uid },
            status,
          });
        writing = writing.then(write).then(() => {}, onError);
      },
      onError,
    });
    return {
      pod,
      containers: run.containers,
      get address() {
        return run.address;
      },
      async stop(graceMs, hooks) {
        await run.stop(graceMs, hooks);
        await writing;
        await network.drop(await machine);
      },
    };
  }
}

/** Returns how long a pod may take to end, in ms. */
function graceMs({ spec }: PodObject): number {
  return (spec.terminationGracePeriodSeconds ?? GRACE_SECONDS) * 1_000;
}

async function bind({ api, nodeName }: KubeletOptions, { metadata }: PodObject): Promise<void> {
  const { namespace, name } = metadata;
  await api.admin.call({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`,
    body: {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    },
  });
}

/** The API keeps a pod that is to be deleted until the kubelet says that it has ended. */
async function forget({ api }: KubeletOptions, { metadata }: PodObject): Promise<void> {
  const { namespace, name, uid } = metadata;
  await api.admin.call({
    method: 'DELETE',
    path: `/api/v1/namespaces/${namespace}/pods/${name}`,
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
      preconditions: { uid },
    },
  });
}
