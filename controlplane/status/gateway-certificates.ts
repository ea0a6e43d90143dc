import {
  conditionOf,
  type Fault,
  type NamedCondition,
} from '#controlplane/gateway-api/condition.ts';
import type { GatewayApiStatus } from '#controlplane/gateway-api/gateway-api-status.ts';
import { namedSecrets } from '#controlplane/gateway-api/listener-certificates.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import type { Problem } from '#resources/problem.ts';

/** Returns why Secrets cannot be used, by `namespace/name`. */
export function secretFaults(problems: readonly Problem[]): ReadonlyMap<string, string> {
  const errors = problems.filter(({ kind, severity }) => kind === 'Secret' && severity === 'error');
  return new Map(errors.map(({ namespace, name, message }) => [`${namespace}/${name}`, message]));
}

/** Adds what is known of the listeners' certificates now. References are judged without a time. */
export function withSecretFaults(
  status: GatewayApiStatus | undefined,
  { parsed }: ServedObject,
  faults: ReadonlyMap<string, string>,
): GatewayApiStatus | undefined {
  const [item] = parsed.resources;
  if (status?.kind !== 'Gateway' && status?.kind !== 'ListenerSet') return status;
  if (item?.kind !== 'Gateway' && item?.kind !== 'ListenerSet') return status;
  const found = namedSecrets(item).flatMap(({ field, listener, secret }) => {
    const place = `${secret.namespace}/${secret.name}`;
    const why = faults.get(place);
    if (why === undefined) return [];
    const message = `the Secret ${place} cannot be used: ${why}`;
    return [{ listener, fault: { reason: 'InvalidCertificateRef', field, message } }];
  });
  if (found.length === 0) return status;
  const summary = found
    .slice(0, 1)
    .map(({ fault }) => ({ ...fault, reason: 'ListenersNotResolved' }));
  return {
    ...status,
    conditions: unresolved(status.conditions, summary),
    listeners: status.listeners.map(each => {
      const own = found.filter(({ listener }) => listener === each.name).map(({ fault }) => fault);
      return own.length === 0 ? each : { ...each, conditions: unresolved(each.conditions, own) };
    }),
  };
}

function unresolved(
  conditions: readonly NamedCondition[],
  faults: readonly Fault[],
): readonly NamedCondition[] {
  return conditions.map(each =>
    each.type === 'ResolvedRefs' && each.status === 'True'
      ? conditionOf('ResolvedRefs', faults, { message: '' })
      : each,
  );
}
