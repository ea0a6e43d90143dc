import { groupOfPeer } from '#certificates/peer.ts';
import { EXT_AUTHZ, SDS } from '#controlplane/compile/node-groups.ts';
import { isLoopback } from '#resources/words/origin.ts';
import type { Peer } from '#xds/discovery-service.ts';

/** Groups whose configuration holds secrets: those of OAuth2 clients, the keys of certificates. */
const GROUPS: ReadonlySet<string> = new Set([EXT_AUTHZ, SDS]);

export type Trust = {
  /** Secrets may go to other machines in plain text. */
  readonly plaintextSecrets: boolean;
  readonly trustDomain: string;
};

/**
 * Why a client may not have the group's configuration; undefined: it may. By mutual TLS it has that
 * of the group that its certificate names, and no other. In plain text what holds secrets goes to
 * this machine's own processes, and elsewhere only where the operator says that nobody else can
 * read along.
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

/**
 * A group's name is a DNS label; whatever else a stranger calls itself is cut before it is told.
 */
const MAX_GROUP = 63;

function refuseSecrets(group: string, address: string, plaintext: boolean): string | undefined {
  // A key that was once read along lets anyone be this site: it never goes in plain text.
  if (!GROUPS.has(group) || (plaintext && group !== SDS)) return undefined;
  if (isLoopback(hostOf(address))) return undefined;
  const otherwise = group === SDS ? '' : ', or XDS_PLAINTEXT_SECRETS=true in a network of your own';
  return `the configuration of ${group} holds secrets and goes over the loopback only; set TLS_FOLDER${otherwise}`;
}

/**
 * A peer's address is `host:port`, an IPv6 one with brackets or without, and an IPv4 one may be
 * mapped (RFC 4291, section 2.5.5.2).
 */
function hostOf(address: string): string {
  const host = address.slice(0, Math.max(address.lastIndexOf(':'), 0));
  return host.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/i, '');
}
