import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/words/host.ts';
import { compareText } from '#resources/words/order.ts';
import type { CompiledResource } from '../compiled.ts';
import { extension } from '../extension.ts';
import { EDGE } from '../node-groups.ts';
import { toSocketAddress } from '../socket-address.ts';
import { downstreamTls } from '../tls/downstream-tls.ts';
import type { EdgeHost } from '../tls/edge-hosts.ts';
import { hostMark } from '../tls/host-header.ts';
import { httpConnectionManager } from './http-connection-manager.ts';
import { BUFFER_LIMIT_BYTES, CLIENT_KEEPALIVE, listenerName } from './listener.ts';
import type { EdgeListener } from './listeners.ts';

/**
 * Returns the listener of TLS, when a Host has it. It has a filter chain for each Host, chosen by
 * the client's server name (exact before wildcard). So a change of one Host leaves the connections
 * of others alone. Without a name, or with an unknown one, the chain of `*` is chosen. Without that
 * one the connection ends. Source: Envoy's page "FilterChainMatch".
 */
export function edgeTlsListener(
  hosts: readonly EdgeHost[],
  address: HostPort,
  edge: EdgeListener,
): CompiledResource | undefined {
  const speaking = hosts
    .filter(({ tls }) => tls !== undefined)
    .sort((a, b) => compareText(a.hostname, b.hostname));
  if (!speaking.some(({ insecure }) => insecure !== 'closed')) return undefined;
  return {
    name: listenerName(address),
    json: {
      '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
      name: listenerName(address),
      address: toSocketAddress(address),
      per_connection_buffer_limit_bytes: BUFFER_LIMIT_BYTES,
      ...CLIENT_KEEPALIVE,
      listener_filters: [TLS_INSPECTOR],
      listener_filters_timeout: '10s',
      filter_chains: speaking.flatMap(host => filterChain(host, edge)),
    },
    origins: [...speaking.flatMap(({ origins }) => origins), ...edge.origins],
  };
}

export const TLS_INSPECTOR: JsonObject = {
  name: 'envoy.filters.listener.tls_inspector',
  typed_config: extension('filters.listener.tls_inspector.v3.TlsInspector'),
};

/**
 * A Host that cannot speak TLS has a chain too, which ends each connection. Its name must not fall
 * to a wider Host with other rules.
 */
function filterChain(host: EdgeHost, edge: EdgeListener): readonly JsonObject[] {
  const { hostname, tls } = host;
  const match = hostname === '*' ? {} : { filter_chain_match: { server_names: [hostname] } };
  if (tls === undefined || tls === 'broken')
    return hostname === '*' ? [] : [{ name: hostname, ...match, filters: [END] }];
  const manager = httpConnectionManager(EDGE, edge, {
    mark: hostMark(hostname, tls),
    hasClientCertificates: tls.authorities !== undefined,
    host,
  });
  return [
    {
      name: hostname,
      ...match,
      transport_socket: downstreamTls(tls),
      transport_socket_connect_timeout: '10s',
      filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }],
    },
  ];
}

/** Writes nothing and closes. */
export const END: JsonObject = {
  name: 'envoy.filters.network.direct_response',
  typed_config: extension('filters.network.direct_response.v3.Config'),
};
