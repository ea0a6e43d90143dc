import type { GatewayStatus } from '#controlplane/gateway-api/gateway-api-status.ts';
import { GATEWAY_SERVED } from '#controlplane/gateway-api/gateway-statuses.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { resourceId } from '#resources/resource.ts';
import { isFields } from '#resources/words/fields.ts';
import { fieldsIn } from './conditions.ts';
import { PROGRAMMED } from './gateway-programmed.ts';

/** Tells which classes there are, of whichever controller, by their ids. */
export type Classes = { has(id: string): boolean };

const NO_CLASS = 'There is no GatewayClass';
const OURS: readonly unknown[] = [GATEWAY_SERVED, PROGRAMMED.message];

/**
 * Returns the status of a Gateway whose class does not exist, where it says what we wrote before.
 * A status of Gateways names no controller, so it is known by our words.
 * @returns undefined when the status is not ours to write
 */
export function unclassedGateway(
  { status, generation }: ServedObject,
  gatewayClass: string,
  classes: Classes,
): GatewayStatus | undefined {
  const conditions = fieldsIn(isFields(status) ? status.conditions : undefined);
  const isOurs = conditions.some(
    ({ message }) => OURS.includes(message) || String(message).startsWith(NO_CLASS),
  );
  if (!isOurs || classes.has(resourceId('GatewayClass', '', gatewayClass))) return undefined;
  const message = `${NO_CLASS} ${gatewayClass}`;
  return {
    kind: 'Gateway',
    generation,
    conditions: [
      { type: 'Accepted', status: 'Unknown', reason: 'Pending', message },
      { type: 'Programmed', status: 'False', reason: 'Invalid', message },
    ],
    listeners: [],
    attachedListenerSets: 0,
  };
}
