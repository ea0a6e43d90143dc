import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { EdgeTrouble } from '#controlplane/edges/edge-troubles.ts';
import { systemProblem } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourcesById } from '#resources/resource.ts';

/** What is wrong in a cluster. */
export type ClusterTroubles = {
  /** Returns what Gateways lack there. */
  edges?(): readonly EdgeTrouble[];
  /** Returns why statuses are not written there. */
  statusTroubles?(): readonly string[];
};

/** Returns what is wrong in a cluster, beside its resources. */
export function clusterProblems(
  { edges, statusTroubles }: ClusterTroubles,
  served: ResourcesById,
): readonly Problem[] {
  const lacking = (edges?.() ?? []).flatMap(({ gateway, severity, field, message }) => {
    const resource = served.get(gateway);
    return resource === undefined ? [] : [problemOf(resource, severity, field, message)];
  });
  const unwritten = (statusTroubles?.() ?? []).map(reason =>
    systemProblem('Kubernetes', '', `the status of resources is not written: ${reason}`),
  );
  return [...lacking, ...unwritten];
}
