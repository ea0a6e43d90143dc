/** The ports of one system, all on the loopback interface. */
export type Ports = {
  readonly edge: number;
  readonly edgeTls: number;
  readonly edgeAdmin: number;
  readonly edgeStats: number;
  readonly xds: number;
  readonly http: number;
  readonly sds: number;
  readonly rateLimit: number;
  readonly extAuthz: number;
  readonly identityProvider: number;
};

export const MAX_INSTANCES = 40;

/** With a larger offset the highest port would be invalid. */
export const MAX_PORT_OFFSET = 65_535 - 18_004;

/** The default ports, moved by `offset`. */
export function portsAt(offset: number): Ports {
  return {
    edge: 8080 + offset,
    edgeTls: 8443 + offset,
    edgeAdmin: 9901 + offset,
    edgeStats: 9902 + offset,
    xds: 18_000 + offset,
    http: 8877 + offset,
    sds: 18_003 + offset,
    rateLimit: 18_002 + offset,
    extAuthz: 18_001 + offset,
    identityProvider: 18_004 + offset,
  };
}

/**
 * Returns the ports of instance `number` (from 1): its own and, just below, that of the proxy
 * beside it. All instances use ports from 5101 to 5180. So systems whose offsets differ by 100 to
 * 2,800 share no port.
 */
export function instancePorts(
  offset: number,
  number: number,
): { readonly proxy: number; readonly service: number } {
  const proxy = 5099 + 2 * number + offset;
  return { proxy, service: proxy + 1 };
}
