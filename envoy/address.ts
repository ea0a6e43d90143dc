import { isIP } from 'node:net';
import { type HostPort, parseHostPort } from '#grpc/host-port.ts';
import type { JsonObject } from '#protos/json.ts';

/**
 * Returns Envoy's `core.v3.Address` of `host:port`, `[IPv6]:port` or `unix:/path`. Throws an Error
 * that names `what` the address is for when it is none of these.
 */
export function toAddress(text: string, what: string): JsonObject {
  if (/^unix:./.test(text)) return { pipe: { path: text.slice('unix:'.length), mode: 0o600 } };
  const { host, port } = splitHostPort(text, what);
  return { socket_address: { address: host, port_value: port } };
}

/**
 * Tells whether Envoy must look the host up, which is false for IP literals and unix sockets.
 * Throws as toAddress does.
 */
export function isName(text: string, what: string): boolean {
  return !text.startsWith('unix:') && isIP(splitHostPort(text, what).host) === 0;
}

function splitHostPort(text: string, what: string): HostPort {
  const address = parseHostPort(text);
  if (address !== undefined) return address;
  throw new Error(`Cannot parse the ${what} "${text}": write host:port, [IPv6]:port or unix:/path`);
}
