import { EDGE } from '../node-groups.ts';
import { downstreamTls } from '../tls/downstream-tls.ts';
import type { EdgeHost } from '../tls/edge-hosts.ts';
import { hostMark } from '../tls/host-header.ts';
import { type EdgePort, speakingTls } from './edge-ports.ts';
import {
  type EdgeListener,
  type EdgeParts,
  httpConnectionManager,
} from './http-connection-manager.ts';
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
 * with other rules.
 */
function hostChain(host: EdgeHost, edge: EdgeParts, table: string): readonly Chain[] {
  const { hostname, tls } = host;
  if (tls === undefined || tls === 'broken')
    return hostname === '*' ? [] : [{ hostname, filters: [END] }];
  const chain = {
    mark: hostMark(hostname, tls),
    hasClientCertificates: tls.authorities !== undefined,
    host,
  };
  const manager = httpConnectionManager(EDGE, edge, chain, undefined, table);
  return [{ hostname, transportSocket: downstreamTls(tls), filters: [httpFilter(manager)] }];
}
