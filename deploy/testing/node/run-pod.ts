import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT } from '../compose-file.ts';
import type { Container } from '../manifests.ts';
import { type Machine, setSysctl } from '../pod-network.ts';
import { type PodSources, preparePod } from '../prepare-pod.ts';
import {
  type ContainerOptions,
  type RunningContainer,
  startContainer,
} from '../start-container.ts';
import { entrypoint, type Images } from './images.ts';
import { fieldOf, type PodObject } from './pod-object.ts';
import { type ContainerState, podStatus } from './pod-status.ts';
import { succeeds } from './probe.ts';

export type PodRunOptions = {
  readonly pod: PodObject;
  readonly machine: Machine;
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
  readonly address: string;
  readonly containers: ReadonlyMap<string, RunningContainer>;
  /** Ends the containers, the last one first. With `hooks` each is prepared by its `preStop`. */
  stop(graceMs: number, hooks?: boolean): Promise<void>;
};

/** Between two looks at a pod that is not ready, and at one that is. */
const LOOK_MS = { unready: 100, ready: 1_000 };
const RESTART_MS = 1_000;
const LOG_CHARACTERS = 2_000;

/** Runs a pod until `stop`. A container that ends starts again. */
export function runPod(options: PodRunOptions): PodRun {
  const { pod, home, machine } = options;
  const stopped = new AbortController();
  const containers = new Map<string, RunningContainer>();
  const running = run(options, containers, stopped.signal).catch(error => {
    if (!stopped.signal.aborted) options.onError(error);
  });
  return {
    pod,
    address: machine.address,
    containers,
    async stop(graceMs, hooks = false) {
      stopped.abort();
      await running;
      for (const [name, container] of [...containers].reverse()) {
        if (hooks) await prepareStop(pod, name, container);
        await container.stop(graceMs);
      }
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

type Started = {
  readonly container: Container;
  readonly options: ContainerOptions;
  restarts: number;
  startedAt?: string;
};

async function run(
  options: PodRunOptions,
  containers: Map<string, RunningContainer>,
  signal: AbortSignal,
): Promise<void> {
  const { pod, machine } = options;
  const startedAt = now();
  const tell = teller(options, startedAt);
  tell([]);
  const all: Started[] = (await prepare(options, signal)).map(([container, each]) => ({
    container,
    options: each,
    restarts: 0,
  }));
  for (;;) {
    if (signal.aborted) return;
    for (const each of all) startIfEnded(each, options, containers);
    const states = await Promise.all(
      all.map(async ({ container, restarts, startedAt: at }): Promise<ContainerState> => {
        const ready =
          isRunning(containers.get(container.name)) &&
          (await succeeds(container, container.readinessProbe ?? {}, machine.address));
        return { container, ready, restarts, ...(at !== undefined && { startedAt: at }) };
      }),
    );
    if (signal.aborted) return;
    tell(states);
    const ready = states.every(state => state.ready);
    await delay(ready ? LOOK_MS.ready : LOOK_MS.unready, undefined, { signal }).catch(() => pod);
  }
}

function prepare(options: PodRunOptions, signal: AbortSignal) {
  const { pod, home, machine } = options;
  const [etc, volumes] = ['etc', 'volumes'].map(name => join(home, name)) as [string, string];
  for (const folder of [home, etc, volumes]) mkdirSync(folder);
  for (const { name, value } of pod.spec.securityContext.sysctls ?? [])
    setSysctl(machine, name, value);
  for (const [name, text] of Object.entries(options.etc)) writeFileSync(join(etc, name), text);
  return preparePod({
    ...options,
    programs: options.images.programs,
    entrypoint: image => entrypoint(options.images, image),
    checkout: image => options.images.sources.get(image) ?? ROOT,
    etc,
    home: volumes,
    name: pod.metadata.name,
    spec: pod.spec,
    namespace: machine.namespace,
    field: path => fieldOf(pod, machine.address, path),
    sources: options.sources(signal),
  });
}

/** Starts it, or again a second after its last start. */
function startIfEnded(
  each: Started,
  { pod, onError }: PodRunOptions,
  containers: Map<string, RunningContainer>,
): void {
  const { container, options, startedAt } = each;
  const last = containers.get(container.name);
  if (isRunning(last)) return;
  if (startedAt !== undefined) {
    if (Date.now() - Date.parse(startedAt) < RESTART_MS) return;
    each.restarts += 1;
    onError(
      `${pod.metadata.name}/${container.name} has ended:\n${last?.log().slice(-LOG_CHARACTERS)}`,
    );
  }
  containers.set(container.name, startContainer(options));
  each.startedAt = now();
}

function isRunning(container: RunningContainer | undefined): boolean {
  return (
    container !== undefined &&
    container.process.exitCode === null &&
    container.process.signalCode === null
  );
}

/** Tells what has changed. */
function teller({ pod, machine, onStatus }: PodRunOptions, startedAt: string) {
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

/** The time of the API, which has no milliseconds. */
function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
