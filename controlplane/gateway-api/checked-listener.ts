import type { Resource } from '#resources/resource.ts';
import { conditionOf, type Fault, type NamedCondition, notProgrammed } from './condition.ts';
import type { Known, ObjectsContext } from './gateway-context.ts';
import type { ListenerFiltersVerdict } from './listener-filters.ts';
import { listenerTls } from './listener-tls.ts';
import { remembered } from './remembered.ts';
import { RESERVED_PORTS } from './reserved-ports.ts';
import type { WrittenListener } from './route-parent.ts';
import type { ListenerFilters, ListenerTls } from './served-gateway.ts';

/** A listener, and whether it can be served. */
export type CheckedListener = {
  readonly listener: WrittenListener;
  readonly tls: ListenerTls | undefined;
  readonly filters: ListenerFilters | undefined;
  readonly accepted: readonly Fault[];
  readonly resolved: readonly Fault[];
  readonly conflict: Fault | undefined;
  /** Whether the proxies get it. */
  readonly valid: boolean;
};

/** What is known of a listener before it is checked. `conflict` is what others do to it. */
type Before = {
  readonly conflict: Fault | undefined;
  readonly filters: ListenerFiltersVerdict;
};

/** Checks what a listener asks for by itself. */
export function checkListener(
  listener: WrittenListener,
  gateway: Resource<'Gateway'>,
  { conflict, filters }: Before,
  known: Known,
): CheckedListener {
  const { tls, accepted, resolved } = remembered(known, listener, 'TLS', [gateway], ask =>
    listenerTls(listener, gateway, ask),
  );
  const all = [...ownFaults(listener, known.context), ...accepted];
  const needsTls = listener.protocol === 'HTTPS' || listener.protocol === 'TLS';
  const isWhole = all.length === 0 && listener.kinds.length > 0 && !(needsTls && tls === undefined);
  return {
    listener,
    tls,
    filters: filters.filters,
    accepted: all,
    resolved: [...listener.kindFaults, ...resolved, ...filters.resolved],
    conflict,
    valid: isWhole && conflict === undefined,
  };
}

function ownFaults(
  { spec, field, protocol }: WrittenListener,
  { isEdgePort }: ObjectsContext,
): readonly Fault[] {
  const fault = (reason: string, at: string, message: string) => [
    { reason, field: `${field}.${at}`, message },
  ];
  if (protocol === undefined) {
    const message = `${spec.protocol} is not served here. Write HTTP, HTTPS, TLS, TCP or UDP`;
    return fault('UnsupportedProtocol', 'protocol', message);
  }
  if (RESERVED_PORTS.has(spec.port))
    return fault('PortUnavailable', 'port', `port ${spec.port} is one of the proxies' own`);
  if (protocol !== 'UDP' && isEdgePort(spec.port))
    return fault('PortUnavailable', 'port', `port ${spec.port} ${OF_EDGE}`);
  return [];
}

const OF_EDGE =
  "is the edge's own, where it serves Mappings, ProxyConfigs and Hosts. Name another port, or move the edge (EDGE_ADDRESS, EDGE_TLS_ADDRESS, or the listener of a ProxyConfig)";

/** Returns the conditions of a listener. `Programmed` is left to the proxies where it is valid. */
export function listenerConditions(
  { accepted, resolved, conflict, valid }: CheckedListener,
  overlaps: boolean,
): readonly NamedCondition[] {
  const faults = conflict === undefined ? accepted : [conflict];
  return [
    conditionOf('Accepted', faults, { message: 'The listener is valid' }),
    conditionOf('ResolvedRefs', resolved, { message: 'All references are resolved' }),
    conflict === undefined
      ? NO_CONFLICT
      : { type: 'Conflicted', status: 'True', reason: conflict.reason, message: conflict.message },
    ...(valid ? [] : [notProgrammed(conflict?.reason ?? 'Invalid')]),
    ...(overlaps ? [OVERLAPS] : []),
  ];
}

const NO_CONFLICT: NamedCondition = {
  type: 'Conflicted',
  status: 'False',
  reason: 'NoConflicts',
  message: 'It can be told apart from all others',
};

const OVERLAPS: NamedCondition = {
  type: 'OverlappingTLSConfig',
  status: 'True',
  reason: 'OverlappingHostnames',
  message:
    'Another listener of the port serves some of the same host names, so a connection may be meant for the other. Such requests are answered 421',
};
