import type { Resource } from '#resources/resource.ts';
import type { Fault } from './condition.ts';

/** One of our Gateways with the ListenerSets that name it. */
export type OurGateway = {
  readonly gateway: Resource<'Gateway'>;
  readonly group: string;
  /** Why it is not accepted, beside its listeners. */
  readonly faults: readonly Fault[];
  /** Whether its listeners are served by the proxies that it has. It may not be accepted. */
  readonly isServed: boolean;
  /** In the order of precedence. */
  readonly sets: readonly OurListenerSet[];
};

export type OurListenerSet = {
  readonly listenerSet: Resource<'ListenerSet'>;
  /** Whether the Gateway allows it. */
  readonly allowed: boolean;
};

/** Returns a Gateway and its ListenerSets that it allows, in the order of precedence. */
export function originsOf({ gateway, sets }: OurGateway) {
  const allowed = sets.filter(({ allowed }) => allowed);
  return [gateway, ...allowed.map(({ listenerSet }) => listenerSet)].map(origin => ({
    origin,
    gateway,
  }));
}
