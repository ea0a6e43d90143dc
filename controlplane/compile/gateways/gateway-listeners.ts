import type { ListenerTls, ServedListener } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { DEFAULT_TLS_SETTINGS } from '#resources/traffic/tls-settings.ts';
import type { HostPort } from '#resources/words/host.ts';
import { secretConfig } from '../clusters/secret-config.ts';
import { tlsParameters } from '../clusters/tls-parameters.ts';
import { coveringDomains } from '../domain-cover.ts';
import { extension } from '../extension.ts';
import { END, TLS_INSPECTOR } from '../listeners/edge-tls-listener.ts';
import { BUFFER_LIMIT_BYTES, CLIENT_KEEPALIVE } from '../listeners/listener.ts';
import { toSocketAddress } from '../socket-address.ts';
import { bundle } from './backend-cluster.ts';
import { keyPairName } from './key-pair-name.ts';
import { type StreamRoute, tcpProxy, udpProxy } from './stream-proxies.ts';

/**
 * Returns the `HttpConnectionManager` of one listener's connections, or of all that a port has
 * without TLS.
 */
export type ManagerOf = (listener: ServedListener | undefined) => JsonObject;

/**
 * Returns Envoy's listener for one port of a Gateway. Over TLS each hostname has a filter chain,
 * which the client's server name chooses (exact before wildcard). A change of one leaves the
 * connections of others alone. A name without a chain ends the connection.
 */
export function tcpListener(
  name: string,
  address: HostPort,
  listeners: readonly ServedListener[],
  managerOf: ManagerOf,
): JsonObject {
  const overTls = listeners.some(({ protocol }) => protocol === 'HTTPS' || protocol === 'TLS');
  return {
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name,
    address: toSocketAddress(address),
    per_connection_buffer_limit_bytes: BUFFER_LIMIT_BYTES,
    ...CLIENT_KEEPALIVE,
    ...(overTls ? { listener_filters: [TLS_INSPECTOR], listener_filters_timeout: '10s' } : {}),
    filter_chains: overTls ? tlsChains(listeners, managerOf) : [plainChain(listeners, managerOf)],
  };
}

function plainChain(listeners: readonly ServedListener[], managerOf: ManagerOf): JsonObject {
  const [first] = listeners;
  if (first?.protocol !== 'TCP') return { filters: [http(managerOf(undefined))] };
  const [route] = streamsOf(first);
  return { filters: [route === undefined ? END : tcpProxy(first.id, route)] };
}

function http(manager: JsonObject): JsonObject {
  return { name: 'envoy.filters.network.http_connection_manager', typed_config: manager };
}

/** Of two chains for one name the first counts: that of the older route, or of HTTPS. */
function tlsChains(
  listeners: readonly ServedListener[],
  managerOf: ManagerOf,
): readonly JsonObject[] {
  const chains = new Map<string, JsonObject>();
  const add = (hostname: string, chain: JsonObject) => {
    if (!chains.has(hostname))
      chains.set(hostname, { name: hostname, ...match(hostname), ...chain });
  };
  for (const listener of listeners)
    for (const [hostname, chain] of chainsOf(listener, managerOf)) add(hostname, chain);
  // A name of a listener without a route must not fall to a wider listener.
  for (const { hostname } of listeners) if (hostname !== '*') add(hostname, { filters: [END] });
  // Envoy accepts no listener without a chain.
  if (chains.size === 0) add('*', { filters: [END] });
  return [...chains.values()];
}

function chainsOf(
  listener: ServedListener,
  managerOf: ManagerOf,
): readonly (readonly [hostname: string, chain: JsonObject])[] {
  const { hostname, protocol, tls } = listener;
  if (protocol === 'HTTPS')
    return [[hostname, terminated(tls, [http(managerOf(listener))], HTTP_ALPN)]];
  return streamsByName(streamsOf(listener)).map(([name, route]) => {
    const filters = [tcpProxy(listener.id, route)];
    return [name, tls?.mode === 'Terminate' ? terminated(tls, filters, []) : { filters }] as const;
  });
}

/**
 * Returns the route of each name. Of several the one with the narrower hostname of its own counts,
 * whatever the listener makes of it, then the older one.
 */
function streamsByName(
  routes: readonly StreamRoute[],
): readonly (readonly [name: string, route: StreamRoute])[] {
  const found = new Map<string, readonly StreamRoute[]>();
  for (const route of routes)
    for (const name of route.hostnames) found.set(name, [...(found.get(name) ?? []), route]);
  return [...found].flatMap(([name, all]) => {
    const covering = coveringDomains(name);
    const [first] = all.toSorted((a, b) => ownRank(a, covering) - ownRank(b, covering));
    return first === undefined ? [] : [[name, first] as const];
  });
}

/** Returns how far the narrowest of the route's own hostnames is from the name. */
function ownRank({ route }: StreamRoute, covering: readonly string[]): number {
  const own: readonly string[] = 'hostnames' in route.spec ? route.spec.hostnames : [];
  const at = covering.findIndex(hostname => own.includes(hostname));
  return at < 0 ? covering.length : at;
}

function streamsOf({ routes }: ServedListener): readonly StreamRoute[] {
  return routes.flatMap(route =>
    route.kind === 'TLSRoute' || route.kind === 'TCPRoute' ? [route] : [],
  );
}

function match(hostname: string): JsonObject {
  if (hostname === '*') return { filter_chain_match: { transport_protocol: 'tls' } };
  return { filter_chain_match: { server_names: [hostname], transport_protocol: 'tls' } };
}

const HTTP_ALPN = ['h2', 'http/1.1'];

function terminated(
  tls: ListenerTls | undefined,
  filters: readonly JsonObject[],
  alpn_protocols: readonly string[],
): JsonObject {
  return {
    transport_socket: downstreamTls(tls, alpn_protocols),
    transport_socket_connect_timeout: '10s',
    filters,
  };
}

/** A resumed session would not prove that the client's certificate is still valid. */
function downstreamTls(
  tls: ListenerTls | undefined,
  alpn_protocols: readonly string[],
): JsonObject {
  const { certificates = [], clients } = tls ?? {};
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: extension('transport_sockets.tls.v3.DownstreamTlsContext', {
      common_tls_context: {
        tls_params: tlsParameters(DEFAULT_TLS_SETTINGS),
        tls_certificate_sds_secret_configs: certificates.map(each =>
          secretConfig(keyPairName(each)),
        ),
        ...(clients === undefined
          ? {}
          : {
              validation_context: {
                trusted_ca: { inline_string: bundle(clients.authorities) },
                ...(clients.mode === 'AllowInsecureFallback'
                  ? { trust_chain_verification: 'ACCEPT_UNTRUSTED' }
                  : {}),
              },
            }),
        ...(alpn_protocols.length === 0 ? {} : { alpn_protocols }),
      },
      ...(clients === undefined
        ? {}
        : {
            require_client_certificate: clients.mode === 'AllowValidOnly',
            disable_stateless_session_resumption: true,
            disable_stateful_session_resumption: true,
          }),
    }),
  };
}

/** Returns Envoy's listener for datagrams. Those of a port without a route are dropped. */
export function udpListener(
  name: string,
  { host, port }: HostPort,
  [listener]: readonly ServedListener[],
): JsonObject | undefined {
  const [route] = (listener?.routes ?? []).flatMap(each =>
    each.kind === 'UDPRoute' ? [each] : [],
  );
  const proxy = route === undefined ? undefined : udpProxy(listener?.id ?? '', route);
  if (proxy === undefined) return undefined;
  return {
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name,
    address: { socket_address: { protocol: 'UDP', address: host, port_value: port } },
    udp_listener_config: {},
    listener_filters: [proxy],
  };
}
