import { groupOfPeer } from '#certificates/peer.ts';
import { EXT_AUTHZ, SDS } from '#controlplane/compile/node-groups.ts';
import { isLoopback } from '#resources/words/origin.ts';
import type { Peer } from '#xds/peer.ts';

/** Groups whose configuration holds secrets: those of OAuth2 clients, the keys of certificates. */
const GROUPS: ReadonlySet<string> = new Set([EXT_AUTHZ, SDS]);

export type Trust = {
  /** Whether secrets may go to other machines in plain text. */
  readonly plaintextSecrets: boolean;
  readonly trustDomain: string;
};

/**
 * Returns why a client may not have the group's configuration. By mutual TLS a client gets the
 * configuration of the group in its certificate, and no other. In plain text, secrets go to
 * processes on this machine. They go elsewhere only where the operator states that the network is
 * private.
 * @returns undefined when the client may have it
 */
export function refuseGroup(
  group: string,
  { address, certificate }: Peer,
  trust: Trust,
): string | undefined {
  if (certificate === undefined) return refuseSecrets(group, address, trust.plaintextSecrets);
  const own = groupOfPeer(certificate.subjectAltName, trust.trustDomain);
  if (own === group) return undefined;
  return `the certificate is of ${own ?? `nobody of ${trust.trustDomain}`}: it is not given the configuration of ${group.slice(0, MAX_GROUP)}`;
}

/** A group's name is a DNS label. Any other name of a client is cut before it is shown. */
const MAX_GROUP = 63;

function refuseSecrets(group: string, address: string, plaintext: boolean): string | undefined {
  // Someone who has read a key once can pose as this site. So a key never goes in plain text.
  if (!GROUPS.has(group) || (plaintext && group !== SDS)) return undefined;
  if (isLoopback(hostOf(address))) return undefined;
  const otherwise = group === SDS ? '' : ', or XDS_PLAINTEXT_SECRETS=true in a network of your own';
  return `the configuration of ${group} holds secrets and goes over the loopback only. Set TLS_FOLDER${otherwise}`;
}

/**
 * Returns the host of a peer's address `host:port`. An IPv6 host may have brackets, and an IPv4 one
 * may be mapped (RFC 4291, section 2.5.5.2).
 */
function hostOf(address: string): string {
  const host = address.slice(0, Math.max(address.lastIndexOf(':'), 0));
  return host.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/i, '');
}
