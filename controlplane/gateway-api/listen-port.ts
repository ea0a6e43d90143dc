/**
 * Ports of a Gateway's own proxies that no listener can have: the admin interface, and the listener
 * for probes and statistics.
 */
export const RESERVED_PORTS: ReadonlySet<number> = new Set([9901, 9902]);

/**
 * Returns the port at which Envoy listens for a listener's port. It is the same port everywhere.
 * Pods may listen below 1024, because their `net.ipv4.ip_unprivileged_port_start` is 0. A shift to
 * higher ports would let two listeners meet at one.
 */
export function listenPort(port: number): number {
  return port;
}
