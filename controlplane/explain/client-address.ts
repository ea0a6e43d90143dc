import { canonicalAddress } from '#resources/words/ip-address.ts';
import type { ClientRequest } from './client-request.ts';
import type { ListenerSettings } from './listener-settings.ts';

/**
 * Returns the client's address as Envoy takes it, in the spelling of RFC 5952. It is the
 * connection's, or the one in the trusted part of `X-Forwarded-For`. Source: Envoy's page "HTTP
 * header manipulation", x-forwarded-for.
 */
export function clientAddress(
  { from, headers }: ClientRequest,
  { use_remote_address, xff_num_trusted_hops: hops }: ListenerSettings,
): string {
  const connection = canonicalAddress(from) ?? from;
  if (use_remote_address && hops === 0) return connection;
  const forwardedFor = headers
    .filter(({ name }) => name === 'x-forwarded-for')
    .map(({ value }) => value);
  const addresses = forwardedFor
    .join()
    .split(',')
    .map(address => address.trim());
  // With `use_remote_address` the connection itself is the last hop.
  const skipped = use_remote_address ? hops - 1 : hops;
  return canonicalAddress(addresses.at(-1 - skipped) ?? '') ?? connection;
}
