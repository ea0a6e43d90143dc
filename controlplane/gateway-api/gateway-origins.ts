import type { OurGateway } from './gateway-listeners.ts';

/** Returns a Gateway and its ListenerSets that it allows, in the order of precedence. */
export function originsOf({ gateway, sets }: OurGateway) {
  const allowed = sets.filter(({ allowed }) => allowed);
  return [gateway, ...allowed.map(({ listenerSet }) => listenerSet)].map(origin => ({
    origin,
    gateway,
  }));
}
