import assert from 'node:assert/strict';
import { whyNoKubectl } from '#kubernetes/testing/kube-apiserver.ts';
import {
  type Container,
  containersOf,
  environmentOf,
  manifestsOf,
  workloadsOf,
} from './manifests.ts';

/** The system with the sample service. Empty where there is no kubectl. */
export const MANIFESTS = whyNoKubectl() === undefined ? manifestsOf('kubernetes/demo') : [];
export const WORKLOADS = workloadsOf(MANIFESTS);

/** All containers that stay, each with its workload. */
export const CONTAINERS = WORKLOADS.flatMap(workload =>
  containersOf(workload).map(container => [workload, container] as const),
);

/**
 * Returns the environment of a container. A value that is not known before it runs is
 * `the-<variable>`.
 */
export function environment(container: Container): Readonly<Record<string, string>> {
  return environmentOf(container, ({ name }) => `the-${name}`);
}

export function ownEnvironment(name: string): Readonly<Record<string, string>> {
  return environment(containerOf(name));
}

export function containerOf(name: string): Container {
  const [, found] = CONTAINERS.find(([, container]) => container.name === name) ?? [];
  assert.ok(found, name);
  return found;
}

/** Returns the number of a container's named port. */
export function portNumber({ name, ports = [] }: Container, port: string | number = ''): number {
  if (typeof port === 'number') return port;
  const found = ports.find(each => each.name === port)?.containerPort;
  assert.ok(found, `${name} has no port ${port}`);
  return found;
}
