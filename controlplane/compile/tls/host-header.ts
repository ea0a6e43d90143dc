import type { HostTls } from './host-tls.ts';

/**
 * The header by which routes know over which Host's TLS a request came. Only the gateway says it:
 * it is taken from what clients send, set by the filter chain of the Host, and taken away again
 * before the request goes upstream. A request without TLS has none.
 */
export const HOST_HEADER = 'x-gateway-tls-host';

/**
 * What it says: the hostname, and what was asked of clients in the handshake. When more is asked,
 * connections from before, which drain for minutes, say too little.
 */
export function hostMark(hostname: string, { authorities, settings }: HostTls): string {
  if (authorities === undefined) return hostname;
  return `${hostname}; ${settings.cert_required ? 'requires' : 'takes'} ${authorities.name}`;
}
