import type { ServedBackend, ServedRoute } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import { backendClusterName, NO_BACKEND } from './backend-cluster.ts';

export type StreamRoute = Extract<ServedRoute, { readonly kind: 'TLSRoute' | 'TCPRoute' }>;
export type DatagramRoute = Extract<ServedRoute, { readonly kind: 'UDPRoute' }>;

/** An idle connection ends after this time. Envoy's default. */
const IDLE = '3600s';

/** Returns the filter that forwards bytes. What is for a backend that is not resolved is closed. */
export function tcpProxy(stat_prefix: string, route: StreamRoute): JsonObject {
  const used = backendsOf(route);
  const [only] = used.length === 1 ? used : [];
  const target =
    used.length === 0 || only !== undefined
      ? { cluster: clusterOf(only) }
      : {
          weighted_clusters: {
            clusters: used.map(backend => ({ name: clusterOf(backend), weight: backend.weight })),
          },
        };
  return {
    name: 'envoy.filters.network.tcp_proxy',
    typed_config: extension('filters.network.tcp_proxy.v3.TcpProxy', {
      stat_prefix,
      ...target,
      idle_timeout: IDLE,
    }),
  };
}

/**
 * Returns the filter that forwards datagrams. Envoy's has no weights, so the backend with the
 * greatest gets all.
 * @returns undefined when no backend is resolved
 */
export function udpProxy(stat_prefix: string, route: DatagramRoute): JsonObject | undefined {
  const [backend] = backendsOf(route)
    .filter(({ target }) => target !== undefined)
    .sort((a, b) => b.weight - a.weight);
  if (backend === undefined) return undefined;
  return {
    name: 'envoy.filters.udp_listener.udp_proxy',
    typed_config: extension('filters.udp.udp_proxy.v3.UdpProxyConfig', {
      stat_prefix,
      matcher: {
        on_no_match: {
          action: {
            name: 'route',
            typed_config: extension('filters.udp.udp_proxy.v3.Route', {
              cluster: clusterOf(backend),
            }),
          },
        },
      },
    }),
  };
}

/** A route of streams has one rule. */
function backendsOf({ rules }: StreamRoute | DatagramRoute): readonly ServedBackend[] {
  const [rule] = rules;
  if (rule === undefined || rule.broken !== undefined) return [];
  return rule.backends.filter(({ weight }) => weight > 0);
}

function clusterOf(backend: ServedBackend | undefined): string {
  const target = backend?.target;
  return target === undefined || target.tls === 'closed'
    ? NO_BACKEND
    : backendClusterName(target, false);
}
