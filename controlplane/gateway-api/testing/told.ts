import type { NamedCondition } from '../condition.ts';
import type { GatewayApi } from '../served-gateway.ts';

/** Formats conditions, such as `Accepted ResolvedRefs=False:RefNotPermitted`. */
export function told(conditions: readonly NamedCondition[]): string {
  return conditions
    .map(({ type, status, reason }) => {
      const usual = reason === type || reason === 'NoConflicts';
      const value = status === 'True' ? '' : '=False';
      return usual && status === 'True'
        ? type
        : usual
          ? `${type}${value}`
          : `${type}${value}:${reason}`;
    })
    .join(' ');
}

/** Formats the status of an object: its conditions, and those of its parts, a line each. */
export function statusLines(api: GatewayApi, id: string): readonly string[] {
  const status = api.statuses.get(id);
  switch (status?.kind) {
    case undefined:
      return [];
    case 'GatewayClass':
      return [told(status.conditions)];
    case 'Gateway':
    case 'ListenerSet':
      return [
        told(status.conditions),
        ...status.listeners.map(
          ({ name, attachedRoutes, supportedKinds, conditions }) =>
            `${name} ${attachedRoutes} [${supportedKinds.map(({ kind }) => kind)}] ${told(conditions)}`,
        ),
      ];
    case 'Route':
      return status.parents.map(
        ({ parentRef, conditions }) => `${parentRef.kind} ${parentRef.name}: ${told(conditions)}`,
      );
    case 'Policy':
      return status.ancestors.map(
        ({ ancestorRef, conditions }) => `${ancestorRef.name}: ${told(conditions)}`,
      );
  }
}
