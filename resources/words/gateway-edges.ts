import { shortHash } from './gateway-group.ts';

/** The label of all objects that are made for Gateways. Its value is `edgesName`. */
export const EDGES_LABEL = 'gateway.internal/edges';

/** The annotation with the id of the Gateway that an object was made for. */
export const GATEWAY_ANNOTATION = 'gateway.internal/gateway';

const EDGES = 'gateway-edges';
const LONGEST = 63;

/**
 * Returns the name that all objects of a gateway's edges have in common: `gateway-edges`, with
 * `-<id>` for the operator's GATEWAY_ID. It is the value of their label, and the name of the
 * ConfigMap and the Secret in each namespace.
 */
export function edgesName(gatewayId: string): string {
  if (gatewayId === 'default') return EDGES;
  const named = `${EDGES}-${gatewayId}`;
  const isLabel = named.length <= LONGEST && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(gatewayId);
  return isLabel ? named : `${EDGES}-${shortHash(gatewayId)}`;
}
