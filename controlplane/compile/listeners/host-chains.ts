import { compareText } from '#resources/words/order.ts';
import { EDGE } from '../node-groups.ts';
import { downstreamTls } from '../tls/downstream-tls.ts';
import type { EdgeHost } from '../tls/edge-hosts.ts';
import { hostMark } from '../tls/host-header.ts';
import { type EdgeParts, httpConnectionManager } from './http-connection-manager.ts';
import { type Chain, END, httpFilter } from './listener.ts';

/** Returns the Hosts that TLS is intended for, ordered by name. */
export function speakingTls(hosts: readonly EdgeHost[]): readonly EdgeHost[] {
  return hosts
    .filter(({ tls }) => tls !== undefined)
    .sort((a, b) => compareText(a.hostname, b.hostname));
}

/**
 * Returns the chain of a Host's TLS, whose requests use this table of routes. A Host that cannot
 * speak TLS has a chain too, which ends each connection. Its name must not fall to a wider Host
 * with other rules.
 */
export function hostChain(host: EdgeHost, edge: EdgeParts, table: string): readonly Chain[] {
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
