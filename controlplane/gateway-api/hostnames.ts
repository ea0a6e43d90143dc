/** Every hostname. A listener or route without hostnames has it. */
export const ANY_HOSTNAME = '*';

/**
 * Returns the hostnames that a route serves on a listener: of each pair the narrower one. A
 * wildcard stands for one label or more. See `hostnames` of HTTPRoute in Gateway API.
 * @returns an empty list when none of the route's hostnames meets the listener's
 */
export function intersectHostnames(listener: string, route: readonly string[]): readonly string[] {
  const asked = route.length === 0 ? [ANY_HOSTNAME] : route;
  return [...new Set(asked.flatMap(hostname => narrower(listener, hostname) ?? []))];
}

/**
 * Returns the narrower of two hostnames.
 * @returns undefined when no name fits both
 */
export function narrower(a: string, b: string): string | undefined {
  if (covers(a, b)) return b;
  return covers(b, a) ? a : undefined;
}

function covers(wide: string, narrow: string): boolean {
  if (wide === ANY_HOSTNAME || wide === narrow) return true;
  return wide.startsWith('*.') && narrow.endsWith(wide.slice(1));
}
