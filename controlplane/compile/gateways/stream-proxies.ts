import type { ServedBackend, ServedRoute } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import { backendClusterName, NO_BACKEND } from './backend-cluster-name.ts';

export type StreamRoute = Extract<ServedRoute, { readonly kind: 'TLSRoute' | 'TCPRoute' }>;
export type DatagramRoute = Extract<ServedRoute, { readonly kind: 'UDPRoute' }>;

/** An idle connection ends after this time. Envoy's default. */
const IDLE = '3600s';

/** An instance that cannot be connected to got nothing. Another one may be chosen then. */
const CONNECT_ATTEMPTS = 3;

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
      max_connect_attempts: CONNECT_ATTEMPTS,
      idle_timeout: IDLE,
    }),
  };
}

/**
 * Returns the filter that forwards datagrams. Envoy's has no weights, so the source port decides by
 * its hash. The datagrams of a backend that is not resolved are dropped.
 * @returns undefined when no backend gets any
 */
export function udpProxy(stat_prefix: string, route: DatagramRoute): JsonObject | undefined {
  const used = backendsOf(route);
  const last = used.at(-1);
  if (last === undefined) return undefined;
  return {
    name: 'envoy.filters.udp_listener.udp_proxy',
    typed_config: extension('filters.udp.udp_proxy.v3.UdpProxyConfig', {
      stat_prefix,
      matcher: {
        ...(used.length === 1 ? {} : { matcher_list: { matchers: shares(used) } }),
        on_no_match: toBackend(last),
      },
    }),
  };
}

/** Returns the share of each backend but the last in what the earlier ones left. */
function shares(used: readonly ServedBackend[]): readonly JsonObject[] {
  let left = used.reduce((sum, { weight }) => sum + weight, 0);
  return used.slice(0, -1).map((backend, seed) => {
    const numerator = Math.round((backend.weight / left) * 1_000_000);
    left -= backend.weight;
    return {
      predicate: {
        single_predicate: {
          input: {
            name: 'source port',
            typed_config: extension(`${NETWORK_INPUTS}.SourcePortInput`),
          },
          custom_match: {
            name: 'envoy.matching.matchers.runtime_fraction',
            typed_config: extension(RUNTIME_FRACTION, {
              runtime_fraction: { default_value: { numerator, denominator: 'MILLION' } },
              seed,
            }),
          },
        },
      },
      on_match: toBackend(backend),
    };
  });
}

const NETWORK_INPUTS = 'matching.common_inputs.network.v3';
const RUNTIME_FRACTION = 'matching.input_matchers.runtime_fraction.v3.RuntimeFraction';

function toBackend(backend: ServedBackend): JsonObject {
  const config = extension('filters.udp.udp_proxy.v3.Route', { cluster: clusterOf(backend) });
  return { action: { name: 'route', typed_config: config } };
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
    : backendClusterName(target, 'bytes');
}
