import { createHash } from 'node:crypto';

const NAME = 'gateway-controlplane-status';
const LONGEST_NAME = 253;

/**
 * Returns the Lease whose holder writes the status of resources: `gateway-controlplane-status`,
 * with `-<id>` for the operator's GATEWAY_ID. Each gateway writes the status of its own resources.
 * An id that no name can hold (RFC 1123: small letters, digits, `-`, `.`) stands there as a hash.
 */
export function statusLeaseName(gatewayId: string): string {
  if (gatewayId === 'default') return NAME;
  const named = `${NAME}-${gatewayId}`;
  if (
    named.length <= LONGEST_NAME &&
    /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(gatewayId)
  )
    return named;
  return `${NAME}-${createHash('sha256').update(gatewayId).digest('hex').slice(0, 16)}`;
}
