import { checkServerIdentity, type PeerCertificate } from 'node:tls';

/**
 * Returns the check of a server's certificate. It may be for the address of the server or for any
 * of `hosts`, those of REDIS_URL. Clusters and sentinels name their servers by IP addresses, and
 * the certificate of a whole service is for its name.
 */
export function serverIdentity(hosts: readonly string[]) {
  return (address: string, certificate: PeerCertificate): Error | undefined => {
    const error = checkServerIdentity(address, certificate);
    const isOf = (host: string) => checkServerIdentity(host, certificate) === undefined;
    return error !== undefined && hosts.some(isOf) ? undefined : error;
  };
}
