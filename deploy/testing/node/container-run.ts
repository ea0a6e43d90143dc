import type { Container } from '../manifests.ts';
import type { Machine } from '../pod-network.ts';
import {
  type ContainerOptions,
  type RunningContainer,
  startContainer,
} from '../start-container.ts';
import type { ContainerState } from './pod-status.ts';
import { succeeds } from './probe.ts';

/** A container of a pod, over all its starts. */
export type Started = {
  readonly container: Container;
  readonly options: ContainerOptions;
  restarts: number;
  startedAt?: string;
  ready: boolean;
  /** Probes that have failed in a row. */
  failures: number;
};

const RESTART_MS = 1_000;
/** So many probes fail in a row before a container that was ready is not. */
const FAILURES = 3;
const LOG_CHARACTERS = 2_000;

/** Probes it. Source: Kubernetes' page "Configure Probes", with its defaults for thresholds. */
export async function stateOf(
  each: Started,
  running: RunningContainer | undefined,
  { address }: Machine,
): Promise<ContainerState> {
  const { container, restarts, startedAt } = each;
  const { readinessProbe: probe = {} } = container;
  const succeeded = isRunning(running) && (await succeeds(container, probe, address));
  each.failures = succeeded ? 0 : each.failures + 1;
  const isPatient = each.ready && each.failures < (probe.failureThreshold ?? FAILURES);
  each.ready = succeeded || (isRunning(running) && isPatient);
  return { container, ready: each.ready, restarts, ...(startedAt !== undefined && { startedAt }) };
}

/** Starts it, or again a second after its last start. Then it tells how that ended. */
export function startIfEnded(
  each: Started,
  containers: Map<string, RunningContainer>,
  onEnded: (said: string) => void,
): void {
  const { container, options, startedAt } = each;
  const last = containers.get(container.name);
  if (isRunning(last)) return;
  if (startedAt !== undefined) {
    if (Date.now() - Date.parse(startedAt) < RESTART_MS) return;
    each.restarts += 1;
    onEnded(`${container.name} has ended:\n${last?.log().slice(-LOG_CHARACTERS)}`);
  }
  containers.set(container.name, startContainer(options));
  each.startedAt = now();
}

export function isRunning(container: RunningContainer | undefined): boolean {
  return (
    container !== undefined &&
    container.process.exitCode === null &&
    container.process.signalCode === null
  );
}

/** The time of the API, which has no milliseconds. */
export function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
