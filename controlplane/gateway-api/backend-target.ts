import type { BackendObjectRef } from '#resources/kinds/gateway-api/backend-ref.ts';
import type { ExternalAuth } from '#resources/kinds/gateway-api/external-auth.ts';
import type { ServicePortSpec } from '#resources/kinds/service/service.ts';
import type { Resource } from '#resources/resource.ts';
import type { Fault } from './condition.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { Referrer } from './reference.ts';
import { isService, kindText, notPermitted } from './reference-faults.ts';
import type { Ask } from './remembered.ts';
import type { BackendTarget, ExternalStage, RouteKind } from './served-gateway.ts';

/** A route, as its references need it, or a listener that speaks to a backend as such a route. */
export type RouteFrom = {
  readonly kind: RouteKind;
  readonly namespace: string;
  /** The kind that a ReferenceGrant must name. Default: that of the route. */
  readonly referrer?: string;
};

/** What decides about a reference to a backend. */
export type BackendFacts = Pick<
  GatewayContext,
  'backendTls' | 'knowsServices' | 'permits' | 'service'
>;

/** Finds the Service and port that a route of this kind refers to, or says why it cannot. */
export function backendTarget(
  ref: BackendObjectRef,
  field: string,
  from: RouteFrom,
  ask: Ask<BackendFacts>,
): BackendTarget | Fault {
  const { group, kind, name, port } = ref;
  const namespace = ref.namespace ?? from.namespace;
  const fault = (reason: string, message: string): Fault => ({ reason, field, message });
  if (!isService(group, kind))
    return fault('InvalidKind', `${kindText(group, kind)} is not served here. Name a Service`);
  const referrer = { kind: from.referrer ?? from.kind, namespace: from.namespace };
  if (!ask(context => context.permits(referrer, { group, kind, namespace, name })))
    return notPermitted(field, `Service ${namespace}/${name}`);
  const place = `the Service ${namespace}/${name}`;
  if (port === undefined) return fault('BackendNotFound', `name a port of ${place}`);
  const service = ask(context => context.service(namespace, name));
  const mustExist = ask(context => context.knowsServices);
  if (service === undefined && mustExist)
    return fault('BackendNotFound', `there is no ${place}`.replace('no the', 'no'));
  if (service?.spec.type === 'ExternalName')
    return fault('InvalidKind', `${place} is of type ExternalName, which routes may not name`);
  const found = service && portOf(service, port, from.kind);
  if (typeof found === 'string')
    return fault(found, `${place} has no port ${port}${transportText(found, from.kind)}`);
  const tls = TLS_KINDS.has(from.kind)
    ? ask(context => context.backendTls(namespace, name, found))
    : undefined;
  const protocol = protocolOf(from.kind, found?.appProtocol, tls !== undefined);
  if (protocol === undefined)
    return fault(
      'UnsupportedProtocol',
      `port ${port} of ${place} has appProtocol ${found?.appProtocol}, which ${lackOf(from.kind, found?.appProtocol)}`,
    );
  return { namespace, name, port, protocol, ...(tls === undefined ? {} : { tls }) };
}

/** A TCPRoute passes on what clients send. The policy is not for it. */
const TLS_KINDS: ReadonlySet<RouteKind> = new Set(['HTTPRoute', 'GRPCRoute', 'TLSRoute']);

function transportText(reason: string, kind: RouteKind): string {
  return reason === 'UnsupportedProtocol' ? ` for ${transportOf(kind)}` : '';
}

function transportOf(kind: RouteKind): string {
  return kind === 'UDPRoute' ? 'UDP' : 'TCP';
}

/** @returns the reason when there is no such port */
function portOf(
  { spec }: Resource<'Service'>,
  number: number,
  kind: RouteKind,
): ServicePortSpec | 'BackendNotFound' | 'UnsupportedProtocol' {
  const ports = spec.ports.filter(({ port }) => port === number);
  if (ports.length === 0) return 'BackendNotFound';
  return ports.find(({ protocol }) => protocol === transportOf(kind)) ?? 'UnsupportedProtocol';
}

/**
 * Returns what the backend speaks. Names of protocols are those of KEP-3726, and IANA's `https`.
 * Others say nothing that a route of this kind does not.
 * @returns undefined when it cannot be spoken
 */
function protocolOf(
  kind: RouteKind,
  appProtocol: string | undefined,
  hasTls: boolean,
): BackendTarget['protocol'] | undefined {
  if (kind === 'UDPRoute') return 'udp';
  if (kind === 'TCPRoute' || kind === 'TLSRoute') return hasTls ? 'tls' : 'tcp';
  if (kind === 'GRPCRoute' && isWebSocket(appProtocol)) return undefined;
  switch (appProtocol) {
    case 'kubernetes.io/ws':
      return hasTls ? 'wss' : 'ws';
    case 'kubernetes.io/wss':
      return hasTls ? 'wss' : undefined;
    case 'https':
      return hasTls ? 'https' : undefined;
    case 'kubernetes.io/h2c':
      return hasTls ? 'https' : 'h2c';
    default:
      return hasTls ? 'https' : HTTP_OF[kind];
  }
}

function isWebSocket(appProtocol: string | undefined): boolean {
  return appProtocol === 'kubernetes.io/ws' || appProtocol === 'kubernetes.io/wss';
}

/** Returns what a protocol has or needs that cannot be spoken. */
function lackOf(kind: RouteKind, appProtocol: string | undefined): string {
  const isOther = kind === 'GRPCRoute' && isWebSocket(appProtocol);
  return isOther ? 'carries no gRPC' : 'needs a BackendTLSPolicy';
}

const HTTP_OF = { HTTPRoute: 'http', GRPCRoute: 'h2c' } as const;

/** Finds the service that a filter ExternalAuth of this object asks, or says why it cannot. */
export function externalStage(
  external: ExternalAuth,
  field: string,
  { kind, namespace }: Referrer,
  ask: Ask<BackendFacts>,
): ExternalStage | Fault {
  const spoken = external.protocol === 'GRPC' ? 'GRPCRoute' : 'HTTPRoute';
  const from = { kind: spoken, namespace, referrer: kind } as const;
  const found = backendTarget(external.backendRef, `${field}.externalAuth.backendRef`, from, ask);
  return 'reason' in found ? found : { external, target: found };
}

/** Returns why none of these services can be asked. The status of the policy tells more. */
export function externalFault(stages: readonly ExternalStage[]): string | undefined {
  const isClosed = stages.some(({ target }) => target.tls === 'closed');
  return isClosed ? 'the BackendTLSPolicy of a service of ExternalAuth is invalid' : undefined;
}
