import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Machine, setSysctl } from '../pod-network.ts';
import { type PodSources, preparePod } from '../prepare-pod.ts';
import type { RunningContainer } from '../start-container.ts';
import { isRunning, now, type Started, startIfEnded, stateOf } from './container-run.ts';
import { entrypoint, type Images } from './images.ts';
import { fieldOf, type PodObject } from './pod-object.ts';
import { type ContainerState, podStatus } from './pod-status.ts';
import { programFolder } from './program-folder.ts';

export type PodRunOptions = {
  readonly pod: PodObject;
  readonly machine: Promise<Machine>;
  /** Folder of this pod. It does not exist yet, and is removed at the end. */
  readonly home: string;
  readonly images: Images;
  /** Files of /etc, by name. */
  readonly etc: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** What it asks for ends with the signal. */
  sources(signal: AbortSignal): PodSources;
  /** Called with the status of the pod whenever it has changed. */
  onStatus(status: object): void;
  onError(error: unknown): void;
};

export type PodRun = {
  readonly pod: PodObject;
  /** Empty until its machine is there. */
  readonly address: string;
  readonly containers: ReadonlyMap<string, RunningContainer>;
  /** Ends the containers, the last one first. With `hooks` each is prepared by its `preStop`. */
  stop(graceMs: number, hooks?: boolean): Promise<void>;
};

/** Between two looks at a pod that is not ready yet, and at any other. */
const LOOK_MS = { unready: 100, ready: 1_000 };

/** Runs a pod until `stop`. A container that ends starts again. */
export function runPod(options: PodRunOptions): PodRun {
  const { pod, home } = options;
  const [stopping, ended] = [new AbortController(), new AbortController()];
  const containers = new Map<string, RunningContainer>();
  let address = '';
  options.machine.then(
    machine => {
      address = machine.address;
    },
    () => {},
  );
  const running = run(options, containers, stopping.signal, ended.signal).catch(error => {
    if (!stopping.signal.aborted) options.onError(error);
  });
  return {
    pod,
    get address() {
      return address;
    },
    containers,
    async stop(graceMs, hooks = false) {
      stopping.abort();
      for (const [name, container] of [...containers].reverse()) {
        if (hooks) await prepareStop(pod, name, container);
        await container.stop(graceMs);
      }
      ended.abort();
      await running;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Source: Kubernetes' page "Container Lifecycle Hooks". */
async function prepareStop({ spec }: PodObject, name: string, container: RunningContainer) {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const { exec, sleep } = all.find(each => each.name === name)?.lifecycle?.preStop ?? {};
  if (!isRunning(container)) return;
  if (exec !== undefined) await container.run(exec.command);
  if (sleep !== undefined) await delay(sleep.seconds * 1_000);
}

/** Starts nothing more once the pod is stopping. It probes a pod until that has ended. */
async function run(
  options: PodRunOptions,
  containers: Map<string, RunningContainer>,
  stopping: AbortSignal,
  ended: AbortSignal,
): Promise<void> {
  const machine = await options.machine;
  const tell = teller(options, machine, now());
  const tellEnd = (said: string) => options.onError(`${options.pod.metadata.name}/${said}`);
  tell([]);
  const all: Started[] = (await prepare(options, machine, stopping)).map(([container, each]) => ({
    ...{ container, options: each },
    ...{ restarts: 0, ready: false, failures: 0 },
  }));
  while (!ended.aborted) {
    if (!stopping.aborted) for (const each of all) startIfEnded(each, containers, tellEnd);
    const states = await Promise.all(
      all.map(each => stateOf(each, containers.get(each.container.name), machine)),
    );
    if (ended.aborted) return;
    tell(states);
    const isStarting = !stopping.aborted && states.some(({ ready }) => !ready);
    const ms = isStarting ? LOOK_MS.unready : LOOK_MS.ready;
    await delay(ms, undefined, { signal: ended }).catch(() => {});
  }
}

async function prepare(options: PodRunOptions, machine: Machine, signal: AbortSignal) {
  const { pod, home } = options;
  const [etc, volumes] = ['etc', 'volumes'].map(name => join(home, name)) as [string, string];
  for (const folder of [home, etc, volumes]) mkdirSync(folder);
  for (const { name, value } of pod.spec.securityContext.sysctls ?? [])
    await setSysctl(machine, name, value);
  for (const [name, text] of Object.entries(options.etc)) writeFileSync(join(etc, name), text);
  return await preparePod({
    ...options,
    programs: options.images.programs,
    entrypoint: image => entrypoint(options.images, image),
    program: image => options.images.sources.get(image) ?? programFolder(),
    etc,
    home: volumes,
    name: pod.metadata.name,
    spec: pod.spec,
    namespace: machine.namespace,
    field: path => fieldOf(pod, machine.address, path),
    sources: options.sources(signal),
  });
}

/** Tells what has changed. */
function teller({ pod, onStatus }: PodRunOptions, machine: Machine, startedAt: string) {
  let [told, wasReady, since] = ['', false, startedAt];
  return (states: readonly ContainerState[]) => {
    const ready = states.length > 0 && states.every(state => state.ready);
    if (ready !== wasReady) [wasReady, since] = [ready, now()];
    const status = podStatus(pod, machine.address, states, { startedAt, since });
    const text = JSON.stringify(status);
    if (text === told) return;
    told = text;
    onStatus(status);
  };
}
