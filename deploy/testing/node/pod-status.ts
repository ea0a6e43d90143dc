import type { Container } from '../manifests.ts';
import type { PodObject } from './pod-object.ts';

export type ContainerState = {
  readonly container: Container;
  readonly ready: boolean;
  readonly restarts: number;
  /** When it started last, in RFC 3339. Undefined before. */
  readonly startedAt?: string;
};

/**
 * Returns what the API tells of a pod that was started at `startedAt` and whose Ready condition has
 * been what it is since `since`. Source: Kubernetes' page "Pod lifecycle".
 */
export function podStatus(
  { spec }: PodObject,
  address: string,
  states: readonly ContainerState[],
  { startedAt, since }: { readonly startedAt: string; readonly since: string },
): object {
  const running = states.length > 0 && states.every(state => state.startedAt !== undefined);
  const ready = running && states.every(state => state.ready);
  const condition = (type: string, status: boolean, at: string) => ({
    type,
    status: status ? 'True' : 'False',
    lastTransitionTime: at,
  });
  const sidecars = new Set(spec.initContainers?.map(({ name }) => name));
  const [init, main] = [true, false].map(isSidecar =>
    states.filter(({ container }) => sidecars.has(container.name) === isSidecar),
  );
  return {
    phase: running ? 'Running' : 'Pending',
    podIP: address,
    podIPs: [{ ip: address }],
    hostIP: address,
    startTime: startedAt,
    conditions: [
      condition('PodScheduled', true, startedAt),
      condition('Initialized', running, startedAt),
      condition('ContainersReady', ready, since),
      condition('Ready', ready, since),
    ],
    initContainerStatuses: init?.map(containerStatus),
    containerStatuses: main?.map(containerStatus),
  };
}

function containerStatus({
  container: { name, image },
  ready,
  restarts,
  startedAt,
}: ContainerState) {
  return {
    name,
    image,
    imageID: image,
    ready,
    started: startedAt !== undefined,
    restartCount: restarts,
    state:
      startedAt === undefined
        ? { waiting: { reason: 'ContainerCreating' } }
        : { running: { startedAt } },
  };
}
