import { isIPv4 } from 'node:net';
import { groupOfPeer } from '#certificates/peer.ts';
import type { Node } from '#xds/discovery.ts';
import type { Peer } from '#xds/peer.ts';

/** Names of the gateway's own services. No proxy is of such a group. */
const SERVICES: ReadonlySet<string> = new Set([
  'controlplane',
  'sds',
  'ext-authz',
  'ratelimit-service',
]);

const GROUP = /^[a-z0-9-]{1,63}$/;

/** Quoted in answers and logs, so cut. */
const MOST_QUOTED = 80;

/**
 * Decides whose secrets a client may have. On this machine's loopback its own word counts
 * (`node.cluster`). Elsewhere the identity in its certificate decides. `error` says why it gets
 * nothing.
 */
export function secretsGroup(
  { cluster }: Node,
  { address, certificate }: Peer,
  trustDomain: string,
): { readonly group: string } | { readonly error: string } {
  const said = JSON.stringify(cluster.slice(0, MOST_QUOTED));
  if (!GROUP.test(cluster))
    return { error: `node.cluster is ${said}: want the name of a node group` };
  if (SERVICES.has(cluster))
    return { error: `${cluster} is a service of the gateway, and no node group of proxies` };
  if (certificate === undefined) {
    if (isLoopback(address)) return { group: cluster };
    return { error: 'secrets go over the loopback or mutual TLS only' };
  }
  const group = groupOfPeer(certificate.subjectAltName, trustDomain);
  if (group === cluster) return { group };
  return {
    error: `node.cluster is ${said}, but the certificate is of ${group ?? `no group of ${trustDomain}`}`,
  };
}

/** `address` is `host:port`. An IPv6 host has no brackets here either. */
function isLoopback(address: string): boolean {
  const host = address.slice(0, address.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  const mapped = host.replace(/^::ffff:/i, '');
  return host === '::1' || (isIPv4(mapped) && mapped.startsWith('127.'));
}
