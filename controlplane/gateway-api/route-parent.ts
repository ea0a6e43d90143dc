import type { Memo } from '#controlplane/compile/memo.ts';
import type { ListenerSpec } from '#resources/kinds/gateway-api/listener.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { Resource } from '#resources/resource.ts';
import type { Fault } from './condition.ts';
import { ANY_HOSTNAME } from './hostnames.ts';
import type { ListenerProtocol, RouteKind } from './served-gateway.ts';

/** What has listeners. */
export type ListenerOrigin = Resource<'Gateway'> | Resource<'ListenerSet'>;

/** A listener as it is written, which routes may attach to whether or not it can be served. */
export type WrittenListener = {
  /** `Gateway/namespace/name/section` or `ListenerSet/namespace/name/section`. */
  readonly id: string;
  readonly origin: ListenerOrigin;
  /** Its path, such as `spec.listeners[0]`. */
  readonly field: string;
  readonly spec: ListenerSpec;
  /** Undefined when it is not served here. */
  readonly protocol: ListenerProtocol | undefined;
  readonly hostname: string;
  /** Those that its protocol can serve and that it allows. */
  readonly kinds: readonly RouteKind[];
  readonly kindFaults: readonly Fault[];
};

/** What a route refers to: one of our Gateways, or a ListenerSet of one. */
export type RouteParent = {
  /** Id of the Gateway or ListenerSet. */
  readonly id: string;
  readonly namespace: string;
  /** Id of the Gateway. */
  readonly gateway: string;
  /** Why it has no listeners at all. */
  readonly rejected?: string;
  readonly listeners: readonly WrittenListener[];
};

/** Kinds of routes by protocol. */
const KINDS: Readonly<Record<ListenerProtocol, readonly RouteKind[]>> = {
  HTTP: ['HTTPRoute', 'GRPCRoute'],
  HTTPS: ['HTTPRoute', 'GRPCRoute'],
  TLS: ['TLSRoute'],
  TCP: ['TCPRoute'],
  UDP: ['UDPRoute'],
};

/** Returns the listeners of a Gateway or ListenerSet, the same objects while it is the same. */
export function writtenListeners(origin: ListenerOrigin, memo: Memo): readonly WrittenListener[] {
  return memo.of(origin, 'written listeners', [], () => {
    const { listeners }: { readonly listeners: readonly ListenerSpec[] } = origin.spec;
    return listeners.map((spec, index) => toWritten(origin, spec, index));
  });
}

function toWritten(origin: ListenerOrigin, spec: ListenerSpec, index: number): WrittenListener {
  const field = `spec.listeners[${index}]`;
  const protocol = isProtocol(spec.protocol) ? spec.protocol : undefined;
  const served = protocol === undefined ? [] : KINDS[protocol];
  const remedy = served.length === 0 ? '' : `. Name ${served.join(' or ')}`;
  const asked = spec.allowedRoutes.kinds;
  const isServed = ({ group, kind }: (typeof asked)[number]) =>
    group === GATEWAY_API_GROUP && (served as readonly string[]).includes(kind);
  return {
    id: `${origin.id}/${spec.name}`,
    origin,
    field,
    spec,
    protocol,
    hostname: spec.hostname ?? ANY_HOSTNAME,
    kinds:
      asked.length === 0
        ? served
        : served.filter(each => asked.some(a => isServed(a) && a.kind === each)),
    kindFaults: asked.flatMap((each, at) =>
      isServed(each)
        ? []
        : [
            {
              reason: 'InvalidRouteKinds',
              field: `${field}.allowedRoutes.kinds[${at}]`,
              message: `a listener for ${spec.protocol} does not serve ${each.kind} of ${each.group || 'no group'}${remedy}`,
            },
          ],
    ),
  };
}

function isProtocol(text: string): text is ListenerProtocol {
  return Object.hasOwn(KINDS, text);
}
