import { type HostPort, parseHostPort } from '#grpc/host-port.ts';

/** Default addresses of the control plane and of the services beside it. */
export const HTTP = '127.0.0.1:8877';
export const XDS = '127.0.0.1:18000';
export const EXT_AUTHZ = '127.0.0.1:18001';
export const RATELIMIT = '127.0.0.1:18002';
export const SDS = '127.0.0.1:18003';
export const EDGE = '127.0.0.1:8080';
export const EDGE_TLS = '127.0.0.1:8443';

/** Parses `host:port`. Throws an Error that names the option, with an example. */
export function parseAddress(option: string, text: string, example: string): HostPort {
  const address = parseHostPort(text);
  if (address !== undefined) return address;
  throw new Error(`${option} is "${text}": want host:port, for example ${example}`);
}

/** Addresses that the compiler needs beside resources. The default of each is the built-in one. */
export type CompileAddresses = {
  readonly edge?: string;
  readonly edgeTls?: string;
  readonly sds?: string;
  readonly extAuthz?: string;
  readonly ratelimit?: string;
};

/**
 * Returns what the compiler needs beside resources: the edge's default addresses, and the services'
 * addresses.
 */
export function compileOptions({
  edge = EDGE,
  edgeTls = EDGE_TLS,
  sds = SDS,
  extAuthz = EXT_AUTHZ,
  ratelimit = RATELIMIT,
}: CompileAddresses) {
  return {
    edge: parseAddress('--edge', edge, EDGE),
    edgeTls: parseAddress('--edge-tls', edgeTls, EDGE_TLS),
    sds: parseAddress('--sds', sds, SDS),
    extAuthz: parseAddress('--ext-authz', extAuthz, EXT_AUTHZ),
    rateLimit: parseAddress('--ratelimit', ratelimit, RATELIMIT),
  };
}
