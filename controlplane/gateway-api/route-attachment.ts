import type { ParentRef } from '#resources/kinds/gateway-api/parent-ref.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import { resourceId } from '#resources/resource.ts';
import type { Fault } from './condition.ts';
import type { GatewayContext } from './gateway-context.ts';
import { ANY_HOSTNAME, intersectHostnames } from './hostnames.ts';
import type { Ask } from './remembered.ts';
import type { RouteParent, WrittenListener } from './route-parent.ts';
import type { AnyRoute } from './route-rules.ts';

/** What became of one reference of a route to one of our Gateways or ListenerSets. */
export type Attachment = {
  readonly parentRef: ParentRef;
  readonly parent: RouteParent;
  /** The listeners that it is attached to, with the hostnames that it serves there. */
  readonly listeners: readonly AttachedListener[];
  /** Why it is attached to none. */
  readonly fault?: Fault;
};

export type AttachedListener = {
  readonly listener: WrittenListener;
  readonly hostnames: readonly string[];
};

/**
 * Returns the attachments of a route, one for each reference to what is ours, and one for each
 * default Gateway that takes it.
 */
export function attachmentsOf(route: AnyRoute, ask: Ask<GatewayContext>): readonly Attachment[] {
  const { parentRefs, useDefaultGateways } = route.spec;
  const named = parentRefs.flatMap((parentRef, index) => {
    const id = parentId(parentRef, route.namespace);
    const parent = id === undefined ? undefined : ask(context => context.parent(id));
    return parent === undefined
      ? []
      : [attach(route, parentRef, `spec.parentRefs[${index}]`, parent, ask)];
  });
  if (useDefaultGateways !== 'All') return named;
  const known = new Set(named.map(({ parent }) => parent.id));
  const defaults = ask(context => context.defaultGateways).split('\n');
  const others = defaults.filter(id => !known.has(id)).flatMap(id => attachDefault(route, id, ask));
  return [...named, ...others];
}

/** A default Gateway that does not take the route says nothing in its status. */
function attachDefault(
  route: AnyRoute,
  id: string,
  ask: Ask<GatewayContext>,
): readonly Attachment[] {
  const parent = ask(context => context.parent(id));
  if (parent === undefined) return [];
  const [kind = '', namespace = '', name = ''] = id.split('/');
  const parentRef = { group: GATEWAY_API_GROUP, kind, namespace, name };
  const found = attach(route, parentRef, 'spec.useDefaultGateways', parent, ask);
  return found.fault === undefined ? [found] : [];
}

/** Returns faults of references to what does not exist, which get no status. */
export function unknownParents(route: AnyRoute, ask: Ask<GatewayContext>): readonly Fault[] {
  return route.spec.parentRefs.flatMap((parentRef, index) => {
    const id = parentId(parentRef, route.namespace);
    if (id === undefined || ask(context => context.knowsParent(id))) return [];
    const message = `there is no ${id.replace('/', ' ')}`;
    return [{ reason: 'NoMatchingParent', field: `spec.parentRefs[${index}]`, message }];
  });
}

/** @returns undefined for a kind that is never ours */
function parentId({ group, kind, namespace, name }: ParentRef, home: string): string | undefined {
  const isOurs = group === GATEWAY_API_GROUP && (kind === 'Gateway' || kind === 'ListenerSet');
  return isOurs ? resourceId(kind, namespace ?? home, name) : undefined;
}

function attach(
  route: AnyRoute,
  parentRef: ParentRef,
  field: string,
  parent: RouteParent,
  ask: Ask<GatewayContext>,
): Attachment {
  const none = (reason: string, message: string): Attachment => {
    const fault = { reason, field, message };
    return { parentRef, parent, listeners: [], fault };
  };
  if (parent.rejected !== undefined) return none('NoMatchingParent', parent.rejected);
  const selected = parent.listeners.filter(listener => isSelected(listener, parentRef));
  if (selected.length === 0) return none('NoMatchingParent', `no listener has ${told(parentRef)}`);
  const allowing = selected.filter(
    ({ kinds, spec }) =>
      kinds.includes(route.kind) &&
      ask(context =>
        context.admits(spec.allowedRoutes.namespaces, parent.namespace, route.namespace),
      ),
  );
  if (allowing.length === 0)
    return none(
      'NotAllowedByListeners',
      `no listener allows a ${route.kind} of the namespace ${route.namespace}`,
    );
  const listeners = allowing.flatMap(listener => {
    const hostnames = hostnamesOn(listener, route);
    return hostnames.length === 0 ? [] : [{ listener, hostnames }];
  });
  if (listeners.length === 0)
    return none('NoMatchingListenerHostname', 'no hostname of the route meets one of a listener');
  return { parentRef, parent, listeners };
}

function isSelected({ spec }: WrittenListener, { sectionName, port }: ParentRef): boolean {
  return (
    (sectionName === undefined || sectionName === spec.name) &&
    (port === undefined || port === spec.port)
  );
}

function told({ sectionName, port }: ParentRef): string {
  const name = sectionName === undefined ? [] : [`the name ${sectionName}`];
  const number = port === undefined ? [] : [`the port ${port}`];
  return [...name, ...number].join(' and ');
}

function hostnamesOn(listener: WrittenListener, route: AnyRoute): readonly string[] {
  if (route.kind === 'TCPRoute' || route.kind === 'UDPRoute') return [ANY_HOSTNAME];
  return intersectHostnames(listener.hostname, route.spec.hostnames);
}
