import type { Memo } from '#controlplane/compile/memo.ts';
import type { OurGateway } from './our-gateway.ts';
import { type ListenerOrigin, type RouteParent, writtenListeners } from './route-parent.ts';

/** Returns what routes may attach to, by id, the same objects while they are the same. */
export function routeParents(
  ours: readonly OurGateway[],
  memo: Memo,
): ReadonlyMap<string, RouteParent> {
  const parents = new Map<string, RouteParent>();
  for (const { gateway, isServed, sets } of ours) {
    parents.set(gateway.id, toParent(gateway, gateway.id, undefined, memo));
    for (const { listenerSet, allowed } of sets) {
      const rejected = allowed && isServed ? undefined : rejection(allowed);
      parents.set(listenerSet.id, toParent(listenerSet, gateway.id, rejected, memo));
    }
  }
  return parents;
}

function rejection(allowed: boolean): string {
  return allowed
    ? "the ListenerSet's Gateway is not accepted"
    : 'the Gateway does not allow the ListenerSet';
}

function toParent(
  origin: ListenerOrigin,
  gateway: string,
  rejected: string | undefined,
  memo: Memo,
): RouteParent {
  return memo.of(origin, 'parent of routes', [gateway, rejected], () => ({
    id: origin.id,
    namespace: origin.namespace,
    gateway,
    ...(rejected === undefined ? {} : { rejected }),
    listeners: writtenListeners(origin, memo),
  }));
}
