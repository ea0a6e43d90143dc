import { isIP } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';

/** The instance that answers. It is in every body, also of failures. */
export type Instance = {
  readonly hostname: string;
  /** An IP address. */
  readonly resolvedname: string;
};

type NetworkInterfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

const ANY_ADDRESS = ['0.0.0.0', '::'];

/**
 * Returns the IP address of an instance that listens on `host`. It is that address where other
 * machines can reach it. Else it is the first one of the machine that is not internal (IPv4 first,
 * no link-local address), because an instance on the loopback sits behind a proxy on its machine. A
 * machine without any network is 127.0.0.1. It asks no resolver, which may be away or map the name
 * to 127.0.1.1.
 */
export function instanceAddress(host: string, interfaces: NetworkInterfaces): string {
  if (isIP(host) !== 0 && !ANY_ADDRESS.includes(host) && !isLoopback(host)) return host;
  const external = Object.values(interfaces).flatMap(addresses =>
    (addresses ?? []).filter(isReachable),
  );
  const first = external.find(({ family }) => family === 'IPv4') ?? external[0];
  return first?.address ?? '127.0.0.1';
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

function isReachable({ internal, address }: NetworkInterfaceInfo): boolean {
  return !internal && !/^(fe[89ab].:|169\.254\.)/i.test(address);
}
