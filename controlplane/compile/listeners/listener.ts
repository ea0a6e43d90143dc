import { formatHostPort } from '#grpc/host-port.ts';
import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/words/host.ts';
import type { CompiledResource } from '../compiled.ts';
import { extension } from '../extension.ts';
import { toSocketAddress } from '../socket-address.ts';

/** An address that Envoy opens. */
export type ServedPort = {
  readonly address: HostPort;
  /** Ids of the resources that it comes from. */
  readonly origins: readonly string[];
} & (ServedConnections | { readonly datagrams: JsonObject });

/** What happens to connections. Each gets the chain of its server name. */
type ServedConnections = {
  readonly chains: readonly Chain[];
  /** Whether each connection begins with a header of the PROXY protocol. Default: none does. */
  readonly proxyProtocol?: boolean;
  /** Default: the statistics have the address in their names. */
  readonly statsPrefix?: string;
};

/** What happens to the connections of one server name over TLS, or to those of no name. */
export type Chain = {
  /** `*` is TLS with any other name, or with none. Undefined: all connections without TLS. */
  readonly hostname?: string;
  /** The protocol that the client offers (RFC 7301). Default: any that no other chain has. */
  readonly protocol?: string;
  readonly transportSocket?: JsonObject;
  /** A text whose change ends the connections that there are, as they drain. */
  readonly epoch?: string;
  /** Envoy's network filters. */
  readonly filters: readonly JsonObject[];
};

/**
 * Returns a listener's name, which is its address. Another address is another listener, which opens
 * before the old one drains.
 */
export function listenerName(address: HostPort): string {
  return formatHostPort(address);
}

/**
 * Returns Envoy's `Listener` of each address. Of several ports with one address the first counts.
 */
export function toListeners(ports: readonly ServedPort[]): readonly CompiledResource[] {
  const found = new Map<string, CompiledResource>();
  for (const listener of ports.map(toListener))
    if (!found.has(listener.name)) found.set(listener.name, listener);
  return [...found.values()];
}

function toListener(port: ServedPort): CompiledResource {
  const { address, origins } = port;
  const isUdp = 'datagrams' in port;
  const name = isUdp ? `${listenerName(address)}/udp` : listenerName(address);
  const json = {
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name,
    ...(isUdp ? ofDatagrams(port.datagrams, address) : ofConnections(port, address)),
  };
  return { name, json, origins: [...new Set(origins)] };
}

function ofDatagrams(proxy: JsonObject, { host, port }: HostPort): JsonObject {
  return {
    address: { socket_address: { protocol: 'UDP', address: host, port_value: port } },
    udp_listener_config: {},
    listener_filters: [proxy],
  };
}

/** Source for the limits: Envoy's page "Configuring Envoy as an edge proxy". */
function ofConnections(
  { chains, proxyProtocol, statsPrefix }: ServedConnections,
  address: HostPort,
): JsonObject {
  const overTls = chains.some(({ hostname }) => hostname !== undefined);
  const filters = [...(proxyProtocol ? [PROXY_PROTOCOL] : []), ...(overTls ? [TLS_INSPECTOR] : [])];
  return {
    address: toSocketAddress(address),
    ...(statsPrefix === undefined ? {} : { stat_prefix: statsPrefix }),
    per_connection_buffer_limit_bytes: 32 * 1024,
    ...CLIENT_KEEPALIVE,
    ...(filters.length === 0 ? {} : { listener_filters: filters, listener_filters_timeout: '10s' }),
    filter_chains: chains.map(chain => toFilterChain(chain, overTls)),
  };
}

/** A vanished client is noticed after two minutes. Source: tcp(7). */
const CLIENT_KEEPALIVE: JsonObject = {
  tcp_keepalive: { keepalive_probes: 4, keepalive_time: 60, keepalive_interval: 15 },
};

const TLS_INSPECTOR: JsonObject = {
  name: 'envoy.filters.listener.tls_inspector',
  typed_config: extension('filters.listener.tls_inspector.v3.TlsInspector'),
};

/** A connection without the header ends, since its client would be taken for the balancer. */
const PROXY_PROTOCOL: JsonObject = {
  name: 'envoy.filters.listener.proxy_protocol',
  typed_config: extension('filters.listener.proxy_protocol.v3.ProxyProtocol'),
};

/**
 * The server name chooses the chain, exact before wildcard. A change of one leaves the connections
 * of others alone. A name without a chain ends the connection. Source: Envoy's page
 * "FilterChainMatch".
 */
function toFilterChain(
  { epoch, filters, hostname, protocol, transportSocket }: Chain,
  overTls: boolean,
): JsonObject {
  const names = hostname === undefined || hostname === '*' ? {} : { server_names: [hostname] };
  const match = {
    ...names,
    transport_protocol: hostname === undefined ? 'raw_buffer' : 'tls',
    ...(protocol === undefined ? {} : { application_protocols: [protocol] }),
  };
  const name = [hostname ?? [], protocol ?? []].flat().join(' ');
  return {
    ...(name === '' ? {} : { name }),
    ...(overTls ? { filter_chain_match: match } : {}),
    ...(transportSocket === undefined ? {} : { transport_socket: transportSocket }),
    ...(transportSocket === undefined || hostname === undefined
      ? {}
      : { transport_socket_connect_timeout: '10s' }),
    ...(epoch === undefined ? {} : { metadata: { filter_metadata: { gateway: { epoch } } } }),
    filters,
  };
}

/** Returns the network filter that speaks HTTP. */
export function httpFilter(httpConnectionManager: JsonObject): JsonObject {
  return {
    name: 'envoy.filters.network.http_connection_manager',
    typed_config: httpConnectionManager,
  };
}

/** Writes nothing and closes. */
export const END: JsonObject = {
  name: 'envoy.filters.network.direct_response',
  typed_config: extension('filters.network.direct_response.v3.Config'),
};
