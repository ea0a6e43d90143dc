import type { HostTls } from './host-tls.ts';

/**
 * The header that tells routes over which Host's TLS a request came. Only the gateway sets it. It
 * is removed from what clients send, set by the filter chain of the Host, and removed again before
 * the request goes upstream. A request without TLS has none.
 */
export const HOST_HEADER = 'x-gateway-tls-host';

/**
 * Returns the header's value: the hostname, and what the handshake required of clients. When the
 * requirements grow, older connections, which drain for minutes, have too weak a mark.
 */
export function hostMark(hostname: string, { authorities, settings }: HostTls): string {
  if (authorities === undefined) return hostname;
  return `${hostname}; ${settings.cert_required ? 'requires' : 'takes'} ${authorities.name}`;
}
