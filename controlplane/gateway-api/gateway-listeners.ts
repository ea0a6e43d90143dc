import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { gatewayGroup } from '#resources/words/gateway-group.ts';
import { byAge } from './by-age.ts';
import { type CheckedListener, checkListener } from './checked-listener.ts';
import { parentOf } from './foreign-gateways.ts';
import type { OurClass } from './gateway-classes.ts';
import type { Known, ObjectsContext } from './gateway-context.ts';
import { gatewayFaults, isServedWith } from './gateway-faults.ts';
import { listenerConflicts, overlappingTls } from './listener-conflicts.ts';
import { listenerFilters } from './listener-filters.ts';
import { type OurGateway, originsOf } from './our-gateway.ts';
import { remembered } from './remembered.ts';
import { type WrittenListener, writtenListeners } from './route-parent.ts';

/** Returns our Gateways by age. */
export function ourGateways(
  { gateways, listenerSets }: ResourceSet,
  classes: ReadonlyMap<string, OurClass>,
  context: ObjectsContext,
): readonly OurGateway[] {
  const byParent = Map.groupBy([...listenerSets].sort(byAge), parentOf);
  return [...gateways].sort(byAge).flatMap(gateway => {
    const ours = classes.get(gateway.spec.gatewayClassName);
    if (ours === undefined) return [];
    const { namespace, name, spec } = gateway;
    const sets = (byParent.get(gateway.id) ?? []).map(listenerSet => ({
      listenerSet,
      allowed: context.admits(spec.allowedListeners.namespaces, namespace, listenerSet.namespace),
    }));
    const group = context.options.sharedEdge ? EDGE : gatewayGroup(namespace, name);
    const faults = gatewayFaults(gateway, ours, context);
    return [{ gateway, group, faults, isServed: isServedWith(faults, context), sets }];
  });
}

/** What the listeners of our Gateways come to. */
export type GatewayListeners = {
  /** Those of a Gateway or ListenerSet, by its id. */
  readonly checked: ReadonlyMap<string, readonly CheckedListener[]>;
  readonly overlapping: ReadonlySet<WrittenListener>;
};

/** Checks the listeners of Gateways. Those on the same proxies must be told apart. */
export function checkGatewayListeners(ours: readonly OurGateway[], known: Known): GatewayListeners {
  const checked = new Map<string, readonly CheckedListener[]>();
  const overlapping: WrittenListener[] = [];
  for (const sharing of Map.groupBy(ours, ({ group }) => group).values()) {
    const each = sharing.filter(({ isServed }) => isServed).flatMap(originsOf);
    const written = each.map(({ origin }) => writtenListeners(origin, known.memo));
    const conflicts = listenerConflicts(written.flat());
    for (const { origin, gateway } of each) {
      const listeners = writtenListeners(origin, known.memo).map(listener => {
        const before = { conflict: conflicts.get(listener), filters: filtersOf(listener, known) };
        return checkListener(listener, gateway, before, known);
      });
      checked.set(origin.id, listeners);
    }
    overlapping.push(...overlappingTls(written.flat().filter(one => !conflicts.has(one))));
  }
  return { checked, overlapping: new Set(overlapping) };
}

function filtersOf(listener: WrittenListener, known: Known) {
  return remembered(known, listener, 'filters', [], ask => listenerFilters(listener, ask));
}
