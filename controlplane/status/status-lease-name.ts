import { createHash } from 'node:crypto';

const NAME = 'gateway-controlplane-status';
const LONGEST_NAME = 253;

/**
 * Returns the Lease whose holder writes the status of resources: `gateway-controlplane-status`,
 * with `-<id>` for the operator's GATEWAY_ID. Each gateway writes the status of its own resources.
 */
export function statusLeaseName(gatewayId: string): string {
  return objectName(NAME, gatewayId);
}

/**
 * Returns the name of an object of which each gateway has its own: `name`, with `-<id>` for the
 * operator's GATEWAY_ID. An id that no name can hold (RFC 1123: small letters, digits, `-`, `.`)
 * stands there as a hash.
 */
export function objectName(name: string, gatewayId: string): string {
  if (gatewayId === 'default') return name;
  const named = `${name}-${gatewayId}`;
  if (
    named.length <= LONGEST_NAME &&
    /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(gatewayId)
  )
    return named;
  return `${name}-${createHash('sha256').update(gatewayId).digest('hex').slice(0, 16)}`;
}
