import type { JsonObject } from '#protos/json.ts';
import { hashSpec } from '#resources/words/hash.ts';
import { extension } from '../extension.ts';
import { EDGE } from '../node-groups.ts';
import { challengeTls, downstreamTls } from '../tls/downstream-tls.ts';
import type { EdgeHost } from '../tls/edge-hosts.ts';
import { hostMark } from '../tls/host-header.ts';
import type { HostTls } from '../tls/host-tls.ts';
import { type EdgePort, speakingTls } from './edge-ports.ts';
import {
  type EdgeListener,
  type EdgeParts,
  httpConnectionManager,
} from './http-connection-manager.ts';
import { ROUTER } from './http-filters.ts';
import { type Chain, END, httpFilter, type ServedPort } from './listener.ts';

/** Returns the connections of a port of the edge. */
export function servedEdgePort(
  { address, binds, config, origins, proxyProtocol, statsPrefix, table, takes }: EdgePort,
  hosts: readonly EdgeHost[],
  edge: EdgeListener,
): ServedPort {
  const parts = { ...edge, config };
  const speaking = takes.tls ? speakingTls(hosts).filter(binds) : [];
  const plain: readonly Chain[] = takes.plain
    ? [{ filters: [httpFilter(httpConnectionManager(EDGE, parts, undefined, undefined, table))] }]
    : [];
  return {
    address,
    chains: [...speaking.flatMap(host => hostChain(host, parts, table)), ...plain],
    proxyProtocol,
    ...(statsPrefix === undefined ? {} : { statsPrefix }),
    origins: [...origins, ...speaking.flatMap(host => host.origins), ...edge.origins],
  };
}

/**
 * Returns the chain of a Host's TLS, whose requests use this table of routes. A Host that cannot
 * speak TLS has a chain too, which ends each connection. Its name must not fall to a wider Host
 * with other rules, and Envoy accepts no listener without a chain.
 */
function hostChain(host: EdgeHost, edge: EdgeParts, table: string): readonly Chain[] {
  const { hostname, tls } = host;
  if (tls === undefined || tls === 'broken') return [{ hostname, filters: [END] }];
  const chain = {
    mark: hostMark(hostname, tls),
    hasClientCertificates: tls.authorities !== undefined,
    host,
  };
  const manager = httpConnectionManager(EDGE, edge, chain, undefined, table);
  return [
    {
      hostname,
      transportSocket: downstreamTls(tls),
      ...epochOf(tls),
      filters: [httpFilter(manager)],
    },
    ...(tls.isOrdered ? [challengeChain(hostname)] : []),
  ];
}

/**
 * Clients that were let in by authorities of before may be trusted no more, and Envoy asks for a
 * certificate once in a connection.
 */
function epochOf({ authorities }: HostTls): Pick<Chain, 'epoch'> {
  return authorities === undefined ? {} : { epoch: hashSpec(authorities.content()).slice(0, 16) };
}

/**
 * Returns the chain by which an ACME authority proves a name (RFC 8737). The handshake is all that
 * it needs, and END would not wait for it. So requests are answered 404.
 */
function challengeChain(hostname: string): Chain {
  const protocol = 'acme-tls/1';
  const transportSocket = challengeTls(hostname, protocol);
  return { hostname, protocol, transportSocket, filters: [httpFilter(NOTHING)] };
}

const NOTHING: JsonObject = extension(
  'filters.network.http_connection_manager.v3.HttpConnectionManager',
  {
    stat_prefix: 'acme',
    codec_type: 'HTTP1',
    common_http_protocol_options: { idle_timeout: '10s' },
    request_headers_timeout: '10s',
    route_config: { name: 'acme' },
    http_filters: [ROUTER],
  },
);
