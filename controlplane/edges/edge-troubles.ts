import { isRecord, type KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import type { Severity } from '#resources/problem.ts';
import { type EdgeAddresses, NOT_ASSIGNED } from './edge-addresses.ts';

/** What a Gateway asks of the cluster and does not have. */
export type EdgeTrouble = {
  /** The id of the Gateway. */
  readonly gateway: string;
  readonly severity: Severity;
  readonly field: string;
  readonly message: string;
};

type Known = {
  addressesOf(id: string): EdgeAddresses | 'unread' | undefined;
  troubleOf(id: string): string | undefined;
};

/**
 * Returns what these Gateways lack. A trouble with their proxies is told in the cluster's words.
 */
export function edgeTroubles(
  gateways: readonly string[],
  { addressesOf, troubleOf }: Known,
): readonly EdgeTrouble[] {
  return gateways.flatMap(gateway => {
    const tell = (severity: Severity, field: string, message: string) => [
      { gateway, severity, field, message },
    ];
    const trouble = troubleOf(gateway);
    if (trouble !== undefined)
      return tell('error', 'spec', `its proxies cannot be had in the cluster: ${trouble}`);
    const known = addressesOf(gateway) ?? NONE;
    if (known === 'unread') return [];
    const { addresses, missing } = known;
    if (addresses.length + missing.length === 0)
      return tell('warning', 'spec.addresses', NOT_ASSIGNED);
    return missing.flatMap(({ field, message }) =>
      tell(message === NOT_ASSIGNED ? 'warning' : 'error', field, message),
    );
  });
}

const NONE: EdgeAddresses = { addresses: [], missing: [] };

/**
 * Returns why a Deployment has no pods at all, such as a quota, in the words of the cluster.
 * Source: `ReplicaFailure` of Kubernetes' DeploymentCondition.
 */
export function podsFailure(deployment: KubernetesObject | undefined): string | undefined {
  const { availableReplicas, conditions } = isRecord(deployment?.status) ? deployment.status : {};
  if (Number(availableReplicas ?? 0) > 0 || !Array.isArray(conditions)) return undefined;
  const failure = conditions
    .filter(isRecord)
    .find(({ status, type }) => type === 'ReplicaFailure' && status === 'True');
  return typeof failure?.message === 'string' ? failure.message : undefined;
}
