/**
 * Ports of a Gateway's own proxies that no listener can have: the admin interface, and the listener
 * for probes and statistics.
 */
export const RESERVED_PORTS: ReadonlySet<number> = new Set([9901, 9902]);
