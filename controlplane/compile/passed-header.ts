/**
 * The header of requests that have passed the filters of their listener. Only the gateway sets it.
 * It is removed from what clients send, and again before the request goes upstream.
 */
export const PASSED_HEADER = 'x-gateway-passed';
