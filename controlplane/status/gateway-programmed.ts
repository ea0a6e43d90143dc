import {
  type Fault,
  type NamedCondition,
  tellFaults,
} from '#controlplane/gateway-api/condition.ts';
import type {
  GatewayStatus,
  ListenerSetStatus,
  ListenerStatus,
} from '#controlplane/gateway-api/gateway-api-status.ts';
import type { Fields } from '#resources/words/fields.ts';
import { fieldsIn } from './conditions.ts';

/** What the proxies and the cluster say of a Gateway, or of a ListenerSet. */
export type GatewayProgress = {
  /** Undefined while they have not answered. */
  readonly proxies: 'accepted' | { readonly rejected: string } | undefined;
  /** Where clients reach it. Undefined while nothing is known of it. */
  readonly addresses: readonly Fields[] | undefined;
  /** Why it does not have addresses that it asks for. The reason is that of `Programmed`. */
  readonly missing: readonly Fault[];
  /** Why its proxies cannot be had. */
  readonly trouble?: string | undefined;
};

type Told = Pick<GatewayStatus | ListenerSetStatus, 'conditions' | 'listeners'>;

/**
 * Adds `Programmed` to the conditions of what can be served. A missing answer of the proxies
 * changes nothing where they answered to this generation before, or those of another control plane.
 */
export function withProgrammed(
  status: GatewayStatus | ListenerSetStatus,
  before: Fields,
  progress: GatewayProgress,
): Told {
  const proxies = ofProxies(progress);
  const own = status.kind === 'Gateway' ? programmedGateway(progress) : proxies;
  const known = fieldsIn(before.listeners);
  const { generation } = status;
  return {
    conditions: add(status.conditions, own, before.conditions, generation),
    listeners: status.listeners.map((listener): ListenerStatus => {
      const old = known.find(({ name }) => name === listener.name);
      return {
        ...listener,
        conditions: add(listener.conditions, proxies, old?.conditions, listenersGeneration(status)),
      };
    }),
  };
}

/** Returns the generation that the conditions of listeners are about. */
export function listenersGeneration(status: GatewayStatus | ListenerSetStatus): number {
  return status.listenersGeneration ?? status.generation;
}

function add(
  conditions: readonly NamedCondition[],
  now: NamedCondition,
  before: unknown,
  generation: number,
): readonly NamedCondition[] {
  if (conditions.some(({ type }) => type === 'Programmed')) return conditions;
  const old = fieldsIn(before).find(({ type }) => type === 'Programmed');
  const answered = old?.observedGeneration === generation ? answeredBefore(old) : undefined;
  return [...conditions, (now.status === 'Unknown' && answered) || now];
}

function answeredBefore(old: Fields): NamedCondition | undefined {
  if (old.status === 'True') return PROGRAMMED;
  return isRejectedElsewhere(old) ? programmed('False', 'Invalid', String(old.message)) : undefined;
}

const ELSEWHERE = 'A proxy of another control plane rejects it: ';

/** Returns what a control plane that does not lead tells of its proxies. */
export function rejectedElsewhere(why: string): NamedCondition {
  return programmed('False', 'Invalid', `${ELSEWHERE}${why}`);
}

/** Returns whether a condition is what `rejectedElsewhere` tells. */
export function isRejectedElsewhere({ status, message }: Fields | NamedCondition): boolean {
  return status === 'False' && String(message).startsWith(ELSEWHERE);
}

/** Our words for what is served. */
export const PROGRAMMED = programmed('True', 'Programmed', 'The proxies have accepted it');

/** Returns whether a Gateway is served where clients can reach it. */
export function programmedGateway(progress: GatewayProgress): NamedCondition {
  return ofAddresses(progress) ?? ofProxies(progress);
}

function ofProxies({ proxies }: GatewayProgress): NamedCondition {
  if (proxies === undefined)
    return programmed('Unknown', 'Pending', 'The proxies have not answered yet');
  if (proxies === 'accepted') return PROGRAMMED;
  return programmed('False', 'Invalid', `A proxy rejects it: ${proxies.rejected}`);
}

/** @returns undefined when the Gateway has the addresses that it needs */
function ofAddresses({ addresses, missing, trouble }: GatewayProgress): NamedCondition | undefined {
  if (trouble !== undefined) return programmed('False', 'NoResources', trouble);
  if (addresses === undefined) return UNREAD;
  const unusable = missing.filter(({ reason }) => reason === 'AddressNotUsable');
  if (unusable.length > 0) return programmed('False', 'AddressNotUsable', tellFaults(unusable));
  return addresses.length === 0
    ? programmed('False', 'AddressNotAssigned', tellMissing(missing))
    : undefined;
}

const UNREAD = programmed('Unknown', 'Pending', 'Its addresses are not known yet');

function tellMissing(missing: readonly Fault[]): string {
  return missing.length === 0 ? 'No address is assigned yet' : tellFaults(missing);
}

/**
 * Returns the condition `AddressesAssigned` of a Gateway that is accepted. Source: GEP-5093, "Full
 * and Partially Accepted Address Entry Semantics".
 */
export function addressesAssigned(
  { conditions }: Pick<GatewayStatus, 'conditions'>,
  { addresses = [], missing }: GatewayProgress,
): readonly NamedCondition[] {
  const isAccepted = conditions.some(
    ({ type, status }) => type === 'Accepted' && status === 'True',
  );
  if (!isAccepted) return [];
  const type = 'AddressesAssigned';
  const isAny = addresses.length > 0;
  if (isAny && missing.length === 0)
    return [{ type, status: 'True', reason: type, message: 'It has all addresses' }];
  const reason = isAny ? 'PartiallyAssigned' : 'NotAssigned';
  return [{ type, status: 'False', reason, message: tellMissing(missing) }];
}

function programmed(
  status: NamedCondition['status'],
  reason: string,
  message: string,
): NamedCondition {
  return { type: 'Programmed', status, reason, message };
}
