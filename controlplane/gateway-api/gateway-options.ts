import type { HostPort } from '#resources/words/host.ts';

/** How Gateway API is served here. */
export type GatewayOptions = {
  /** Name of this controller, which GatewayClasses have as `controllerName`. */
  readonly controller: string;
  /** Whether the proxies of the edge serve all Gateways. Otherwise each Gateway has its own. */
  readonly sharedEdge: boolean;
  /** Where the edge serves Mappings, and Hosts with TLS. Absent: a Gateway may have any address. */
  readonly edge?: HostPort;
  readonly edgeTls?: HostPort;
  /** Groups of our own kinds, such as Filter. */
  readonly apiGroups: readonly string[];
};

/** The `controllerName` of GatewayClasses that are for this gateway, unless it is configured. */
export const DEFAULT_CONTROLLER = 'gateway.internal/gateway-controller';
