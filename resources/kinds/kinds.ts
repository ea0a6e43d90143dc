import type * as z from 'zod';
import { backendTlsPolicy } from './backend-tls-policy/backend-tls-policy.ts';
import { clusterTrustBundle } from './cluster-trust-bundle/cluster-trust-bundle.ts';
import { configMap } from './config-map/config-map.ts';
import { filter } from './filter/filter.ts';
import { filterPolicy } from './filter-policy/filter-policy.ts';
import { gateway } from './gateway/gateway.ts';
import { gatewayClass } from './gateway-class/gateway-class.ts';
import { grpcRoute } from './grpc-route/grpc-route.ts';
import { host } from './host/host.ts';
import { httpRoute } from './http-route/http-route.ts';
import type { Kind } from './known-kinds.ts';
import { listener } from './listener/listener.ts';
import { listenerSet } from './listener-set/listener-set.ts';
import { logService } from './log-service/log-service.ts';
import { mapping } from './mapping/mapping.ts';
import { module } from './module/module.ts';
import { namespace } from './namespace/namespace.ts';
import { proxyConfig } from './proxy-config/proxy-config.ts';
import { rateLimit } from './rate-limit/rate-limit.ts';
import { rateLimitService } from './rate-limit-service/rate-limit-service.ts';
import { referenceGrant } from './reference-grant/reference-grant.ts';
import { secret } from './secret/secret.ts';
import { service } from './service/service.ts';
import { tcpRoute } from './tcp-route/tcp-route.ts';
import { tlsContext } from './tls-context/tls-context.ts';
import { tlsRoute } from './tls-route/tls-route.ts';
import { tracingService } from './tracing-service/tracing-service.ts';
import { udpRoute } from './udp-route/udp-route.ts';

/** The definition of every kind that is served. */
export const KINDS = {
  BackendTLSPolicy: backendTlsPolicy,
  ClusterTrustBundle: clusterTrustBundle,
  ConfigMap: configMap,
  Filter: filter,
  FilterPolicy: filterPolicy,
  GRPCRoute: grpcRoute,
  Gateway: gateway,
  GatewayClass: gatewayClass,
  HTTPRoute: httpRoute,
  Host: host,
  Listener: listener,
  ListenerSet: listenerSet,
  LogService: logService,
  Mapping: mapping,
  Module: module,
  Namespace: namespace,
  ProxyConfig: proxyConfig,
  RateLimit: rateLimit,
  RateLimitService: rateLimitService,
  ReferenceGrant: referenceGrant,
  Secret: secret,
  Service: service,
  TCPRoute: tcpRoute,
  TLSContext: tlsContext,
  TLSRoute: tlsRoute,
  TracingService: tracingService,
  UDPRoute: udpRoute,
} as const satisfies Readonly<Record<Kind, unknown>>;

export type SpecOf<K extends Kind> = z.output<(typeof KINDS)[K]['schema']>;
