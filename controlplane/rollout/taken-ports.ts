import type { Resource } from '#resources/resource.ts';

/** Whether proxies may take later what they reject with this message, without any change of it. */
export function mayPass(message: string): boolean {
  return /Address already in use|Cannot assign requested address/.test(message);
}

/** Returns the ports that an Envoy cannot have, in its own words. */
export function portsIn(message: string): ReadonlySet<number> {
  const found = message.matchAll(/cannot bind '[^']*:(\d+)'/g);
  return new Set([...found].map(([, port]) => Number(port)));
}

/** Whether a resource has a listener at one of these ports. */
export function asksFor(resource: Resource, ports: ReadonlySet<number>): boolean {
  if (resource.kind === 'ProxyConfig') return ports.has(resource.spec.listener?.port ?? 0);
  return (
    (resource.kind === 'Gateway' || resource.kind === 'ListenerSet') &&
    resource.spec.listeners.some(({ port }) => ports.has(port))
  );
}
