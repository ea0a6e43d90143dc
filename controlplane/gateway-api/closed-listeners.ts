import type { Memo } from '#controlplane/compile/memo.ts';
import { type Rejected, resourceId } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { CheckedListener } from './checked-listener.ts';
import type { OurClass } from './gateway-classes.ts';
import type { ObjectsContext } from './gateway-context.ts';
import { ANY_HOSTNAME } from './hostnames.ts';
import { type OurGateway, originsOf } from './our-gateway.ts';
import { writtenListeners } from './route-parent.ts';
import type { ClosedListener } from './served-gateway.ts';

/**
 * Returns the hosts that listeners of a Gateway were to serve and cannot. A Gateway that is not
 * accepted may have no listener that was checked.
 */
export function closedListeners(
  ours: OurGateway,
  checked: readonly CheckedListener[],
  memo: Memo,
): readonly ClosedListener[] {
  const written = ours.isServed
    ? checked.flatMap(({ listener, valid }) => (valid ? [] : listener))
    : originsOf(ours).flatMap(({ origin }) => writtenListeners(origin, memo));
  return written
    .filter(({ hostname, protocol }) => hostname !== ANY_HOSTNAME && protocol !== 'UDP')
    .map(({ hostname, origin, spec }) => ({ origin: origin.id, port: spec.port, hostname }));
}

/**
 * Returns the hosts of rejected ListenerSets, by the id of their Gateway. Those of a rejected
 * Gateway are beside another one's, where Gateways share an edge.
 */
export function rejectedListeners(
  { closed }: ResourceSet,
  { ours, classes, context }: RejectedIn,
): ReadonlyMap<string, readonly ClosedListener[]> {
  const all = closed.flatMap(rejected => {
    const gateway = gatewayOf(rejected, { ours, classes, context })?.gateway.id;
    const { id: origin, listeners = [] } = rejected;
    return gateway === undefined ? [] : listeners.map(each => ({ gateway, origin, ...each }));
  });
  const byGateway = Map.groupBy(all, ({ gateway }) => gateway);
  return new Map(
    [...byGateway].map(([id, each]) => [id, each.map(({ gateway: _, ...closed }) => closed)]),
  );
}

type RejectedIn = {
  readonly ours: readonly OurGateway[];
  readonly classes: ReadonlyMap<string, OurClass>;
  readonly context: ObjectsContext;
};

/** @returns undefined when no proxies of ours were to serve it */
function gatewayOf(
  { gatewayClass = '', kind, namespace, parent }: Rejected,
  { ours, classes, context }: RejectedIn,
): OurGateway | undefined {
  if (kind === 'Gateway')
    return context.options.sharedEdge && classes.has(gatewayClass) ? ours[0] : undefined;
  if (kind !== 'ListenerSet' || parent === undefined) return undefined;
  const id = resourceId('Gateway', parent.namespace ?? namespace, parent.name);
  const found = ours.find(({ gateway }) => gateway.id === id);
  if (found === undefined) return undefined;
  const { namespace: home, spec } = found.gateway;
  return context.admits(spec.allowedListeners.namespaces, home, namespace) ? found : undefined;
}
