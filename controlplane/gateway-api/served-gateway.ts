import type { ConnectionRule } from '#resources/kinds/gateway-api/connection-rule.ts';
import type { ExternalAuth } from '#resources/kinds/gateway-api/external-auth.ts';
import type { GrpcRouteRule } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import type { HttpRouteRule } from '#resources/kinds/http-route/http-route-spec.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { GatewayApiStatus } from './gateway-api-status.ts';

/** What the objects of Gateway API ask for. Parts that did not change are the same objects. */
export type GatewayApi = {
  /** Those of our classes, in the order of their ids. One that is not accepted has no listeners. */
  readonly gateways: readonly ServedGateway[];
  /**
   * What the status of each object says, by its id. That of a rejected route has its parents, and
   * does not say why it is rejected.
   */
  readonly statuses: ReadonlyMap<string, GatewayApiStatus>;
  /** The same faults for folders, the console and `/status`, with their field. */
  readonly problems: readonly Problem[];
};

export type ServedGateway = {
  readonly gateway: Resource<'Gateway'>;
  /** The node group of its proxies. */
  readonly group: string;
  /** The valid ones, in the order of precedence: its own, then those of older ListenerSets. */
  readonly listeners: readonly ServedListener[];
  /** Those that are written and cannot be served. No wider listener answers for their hosts. */
  readonly closed: readonly ClosedListener[];
  /** The certificate that it shows to backends. */
  readonly clientCertificate?: SecretName;
};

/** The hosts that a listener was to serve at a TCP port. */
export type ClosedListener = {
  /** Id of the resource that has it. */
  readonly origin: string;
  readonly port: number;
  /** Not `*`, which no other listener covers. */
  readonly hostname: string;
};

export type SecretName = { readonly namespace: string; readonly name: string };

/** A certificate that the built-in authority issues for a name. `*` is this machine. */
export type IssuedCertificate = { readonly issuedFor: string };

export type ListenerProtocol = 'HTTP' | 'HTTPS' | 'TLS' | 'TCP' | 'UDP';

export type ServedListener = {
  /** `Gateway/namespace/name/section` or `ListenerSet/namespace/name/section`. */
  readonly id: string;
  /** Id of the resource that has it. */
  readonly origin: string;
  readonly name: string;
  readonly port: number;
  readonly protocol: ListenerProtocol;
  /** `*` when it has none. */
  readonly hostname: string;
  readonly tls?: ListenerTls;
  readonly filters?: ListenerFilters;
  /** The oldest first, then by namespace and name. A TCP or UDP listener has one at most. */
  readonly routes: readonly ServedRoute[];
};

/** What every request that a listener accepts must pass before its route is chosen. */
export type ListenerFilters = {
  /** Id of the listener. */
  readonly listener: string;
  /** In the order in which they run. */
  readonly stages: readonly ListenerStage[];
  /** Why every request of the listener is answered 500. */
  readonly broken?: string;
};

/** Filters of ours that run in one call, or a service of the operator that is asked. */
export type ListenerStage = { readonly filters: readonly Resource<'Filter'>[] } | ExternalStage;

export type ExternalStage = { readonly external: ExternalAuth; readonly target: BackendTarget };

export type ListenerTls = {
  readonly mode: 'Terminate' | 'Passthrough';
  readonly certificates: readonly (SecretName | IssuedCertificate)[];
  /** How clients' certificates are checked. Absent when none is asked for. */
  readonly clients?: ClientValidation;
};

export type ClientValidation = {
  readonly mode: 'AllowValidOnly' | 'AllowInsecureFallback';
  readonly authorities: readonly CaSource[];
};

export type CaSource = {
  readonly kind: 'ClusterTrustBundle' | 'ConfigMap' | 'Secret';
  /** Empty for a ClusterTrustBundle, which has none. */
  readonly namespace: string;
  readonly name: string;
  /** Its `ca.crt`, or its `trustBundle`. */
  readonly pem: string;
};

/** `hostnames` are those of the route that meet the listener's. `*` stands for any. */
export type ServedRoute =
  | RouteOf<'HTTPRoute', HttpRouteRule>
  | RouteOf<'GRPCRoute', GrpcRouteRule>
  | RouteOf<'TLSRoute', ConnectionRule>
  | RouteOf<'TCPRoute', ConnectionRule>
  | RouteOf<'UDPRoute', ConnectionRule>;

export type RouteKind = 'HTTPRoute' | 'GRPCRoute' | 'TLSRoute' | 'TCPRoute' | 'UDPRoute';

type RouteOf<K extends RouteKind, Rule> = {
  readonly kind: K;
  readonly route: Resource<K>;
  readonly hostnames: readonly string[];
  readonly rules: readonly ServedRule<Rule>[];
};

export type ServedRule<Rule> = {
  /** Its place in the route's rules. */
  readonly index: number;
  readonly rule: Rule;
  readonly backends: readonly ServedBackend[];
  /**
   * Backends of RequestMirror filters, by the place of the filter in `rule.filters`. Those that
   * are not resolved are absent.
   */
  readonly mirrors: ReadonlyMap<number, BackendTarget>;
  /** Why every request of the rule is answered 500. */
  readonly broken?: string;
  /** Our Filters that the rule names, in their order. */
  readonly filters: readonly Resource<'Filter'>[];
  /** The services that are asked behind all Filters, in their order. */
  readonly externals: readonly ExternalStage[];
  /** What its requests have passed before the route was chosen. */
  readonly listener?: ListenerFilters;
  /** The FilterPolicy in force for the rule by a target. Its Filters come before those. */
  readonly policy?: ServedPolicy;
  /** The RateLimits whose targets have the rule. */
  readonly limits: readonly Resource<'RateLimit'>[];
};

export type ServedPolicy = {
  readonly policy: Resource<'FilterPolicy'>;
  /** The place of the target in `targetRefs`. */
  readonly target: number;
  /** All Filters that it names and that exist. */
  readonly filters: readonly Resource<'Filter'>[];
};

export type ServedBackend = {
  /** Its place in `rule.backendRefs`. */
  readonly index: number;
  readonly weight: number;
  /** Undefined when it is not resolved, so its share of the requests is answered 500. */
  readonly target?: BackendTarget;
};

/** A Service and its port. */
export type BackendTarget = {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** By `appProtocol` of the port and the kind of route. With `tls` it is one that has TLS. */
  readonly protocol: 'http' | 'h2c' | 'ws' | 'wss' | 'https' | 'tcp' | 'tls' | 'udp';
  readonly tls?: BackendTls;
};

/**
 * What the BackendTLSPolicy in force asks for. `closed` means that it is invalid, so requests are
 * answered 5xx.
 */
export type BackendTls =
  | {
      /** The name for SNI, which the certificate must have when there are no `subjectAltNames`. */
      readonly hostname: string;
      /** Id of the policy. */
      readonly policy: string;
      readonly authorities: 'System' | readonly CaSource[];
      readonly subjectAltNames: readonly SubjectAltName[];
      /** That of the Gateway. */
      readonly clientCertificate?: SecretName;
    }
  | 'closed';

export type SubjectAltName = { readonly type: 'Hostname' | 'URI'; readonly value: string };
