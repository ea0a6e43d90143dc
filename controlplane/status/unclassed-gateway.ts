import type { NamedCondition } from '#controlplane/gateway-api/condition.ts';
import type {
  GatewayStatus,
  ListenerSetStatus,
} from '#controlplane/gateway-api/gateway-api-status.ts';
import { GATEWAY_SERVED, SET_SERVED } from '#controlplane/gateway-api/gateway-statuses.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { type Resource, resourceId } from '#resources/resource.ts';
import { isFields } from '#resources/words/fields.ts';
import { fieldsIn } from './conditions.ts';
import { PROGRAMMED } from './gateway-programmed.ts';

/** Tells which classes and Gateways there are, of whichever controller, by their ids. */
export type Known = { has(id: string): boolean };

const NO_CLASS = 'There is no GatewayClass';
const NO_GATEWAY = 'There is no Gateway';
const OURS: readonly unknown[] = [GATEWAY_SERVED, SET_SERVED, PROGRAMMED.message];

/**
 * Returns the status of a Gateway whose class does not exist, where it says what we wrote before.
 * @returns undefined when the status is not ours to write
 */
export function unclassedGateway(
  { status, generation }: ServedObject,
  gatewayClass: string,
  known: Known,
): GatewayStatus | undefined {
  if (!isOurs(status) || known.has(resourceId('GatewayClass', '', gatewayClass))) return undefined;
  const conditions = lost('Invalid', `${NO_CLASS} ${gatewayClass}`);
  return { kind: 'Gateway', generation, conditions, listeners: [], attachedListenerSets: 0 };
}

/**
 * Returns the status of a ListenerSet whose Gateway does not exist, or has a class that does not,
 * where it says what we wrote before. `gatewayClassOf` gives the class of a Gateway by its id.
 * @returns undefined when the status is not ours to write
 */
export function orphanedSet(
  { status, generation }: ServedObject,
  { namespace: home, spec }: Resource<'ListenerSet'>,
  known: Known,
  gatewayClassOf: (id: string) => string | undefined,
): ListenerSetStatus | undefined {
  const { namespace = home, name } = spec.parentRef;
  const gateway = resourceId('Gateway', namespace, name);
  const gatewayClass = gatewayClassOf(gateway);
  const isUnclassed =
    gatewayClass !== undefined && !known.has(resourceId('GatewayClass', '', gatewayClass));
  if (!isOurs(status) || (known.has(gateway) && !isUnclassed)) return undefined;
  const message = isUnclassed
    ? `${NO_CLASS} ${gatewayClass}`
    : `${NO_GATEWAY} ${namespace}/${name}`;
  const conditions = lost('ParentNotProgrammed', message);
  return { kind: 'ListenerSet', generation, gateway, conditions, listeners: [] };
}

/** These statuses name no controller, so ours are known by our words, perhaps at one listener. */
function isOurs(status: unknown): boolean {
  const { conditions, listeners } = isFields(status) ? status : {};
  const parts = fieldsIn(listeners).flatMap(listener => fieldsIn(listener.conditions));
  return [...fieldsIn(conditions), ...parts].some(
    ({ message }) => OURS.includes(message) || String(message).startsWith(NO_GATEWAY),
  );
}

function lost(reason: string, message: string): readonly NamedCondition[] {
  return [
    { type: 'Accepted', status: 'Unknown', reason: 'Pending', message },
    { type: 'Programmed', status: 'False', reason, message },
  ];
}
