import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { findTool } from '#launcher/testing/find-tool.ts';
import type { KubeApiserver } from './kube-apiserver.ts';

/** Kubernetes' own controllers beside an API server. */
export type KubeControllers = {
  /** Returns the end of what it has printed. */
  log(): string;
  stop(): Promise<void>;
};

const COMMAND = 'gateway-kube-controllers';
/** Those that make objects of other objects. None of them needs a cloud, or certificates. */
const CONTROLLERS = [
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpointslice-controller',
  'garbage-collector-controller',
  'horizontal-pod-autoscaler-controller',
  'namespace-controller',
  'replicaset-controller',
  'statefulset-controller',
];
const LOG_CHARACTERS = 20_000;

/**
 * Returns why there are no controllers for tests.
 * @returns undefined when there are
 */
export function whyNoKubeControllers(): string | undefined {
  return findTool(COMMAND).skip || undefined;
}

/** Starts a kube-controller-manager (3 s, 100 MB). */
export function startKubeControllers({ kubeconfig }: KubeApiserver): KubeControllers {
  const flags = {
    kubeconfig,
    controllers: CONTROLLERS.join(),
    'leader-elect': 'false',
    // It listens nowhere.
    'secure-port': '0',
    'concurrent-gc-syncs': '5',
    v: '0',
  };
  const child = spawn(
    findTool(COMMAND).path,
    Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    { env: { ...process.env, KAPI_EXIT_WITH_STDIN: '1' }, stdio: ['pipe', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', chunk => {
    log = (log + String(chunk)).slice(-LOG_CHARACTERS);
  });
  unreference(child);
  return {
    log: () => log,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** A test that fails before it can stop the child shall end all the same. */
function unreference(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stderr]) if (stream instanceof Socket) stream.unref();
}
