import { parseHostPort } from '#protos/host-port.ts';
import { isLoopback } from '#resources/origin.ts';
import { EXT_AUTHZ } from './compile/node-groups.ts';

/** Groups whose configuration holds secrets, such as those of OAuth2 clients. */
const GROUPS: ReadonlySet<string> = new Set([EXT_AUTHZ]);

/**
 * Why a client at `address` (`host:port`) may not have the group's configuration; undefined: it may. What holds secrets goes to this machine's own
 * processes, and elsewhere only where the operator says that nobody else can read along.
 */
export function refuseSecrets(group: string, address: string, plaintext: boolean): string | undefined {
  if (!GROUPS.has(group) || plaintext) return undefined;
  const host = parseHostPort(address)?.host ?? '';
  if (isLoopback(host.replace(/^::ffff:/, ''))) return undefined;
  return `the configuration of ${group} holds secrets and goes over the loopback only; in a network of your own set XDS_PLAINTEXT_SECRETS=true`;
}
