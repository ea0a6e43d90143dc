/**
 * The header by which routes know over which Host's TLS a request came: its hostname. Only the gateway says it: it is taken from what clients send, set by the
 * filter chain of the Host, and taken away again before the request goes upstream. A request without TLS has none.
 */
export const HOST_HEADER = 'x-gateway-tls-host';
