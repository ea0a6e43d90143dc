import { SocketAddress } from 'node:net';
import { ipVersion } from '#resources/ip-address.ts';
import type { ClientRequest } from './client-request.ts';
import type { ListenerSettings } from './listener-settings.ts';

/**
 * The client's address as Envoy takes it: the connection's, or what the trusted part of `X-Forwarded-For` says In the spelling of RFC 5952. Source: Envoy's page "HTTP header manipulation", x-forwarded-for.
 */
export function clientAddress(
  { from, headers }: ClientRequest,
  { use_remote_address, xff_num_trusted_hops: hops }: ListenerSettings,
): string {
  const connection = canonical(from) ?? from;
  if (use_remote_address && hops === 0) return connection;
  const forwardedFor = headers.filter(({ name }) => name === 'x-forwarded-for').map(({ value }) => value);
  const addresses = forwardedFor
    .join()
    .split(',')
    .map(address => address.trim());
  // With `use_remote_address` the connection is itself the last hop.
  const skipped = use_remote_address ? hops - 1 : hops;
  return canonical(addresses.at(-1 - skipped) ?? '') ?? connection;
}

function canonical(address: string): string | undefined {
  const version = ipVersion(address);
  if (version === 0) return undefined;
  return new SocketAddress({ address, family: version === 6 ? 'ipv6' : 'ipv4' }).address;
}
