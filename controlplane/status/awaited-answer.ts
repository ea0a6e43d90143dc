import { isDeepStrictEqual } from 'node:util';
import type { NamedCondition } from '#controlplane/gateway-api/condition.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { fieldsIn, stamp } from './conditions.ts';
import {
  type GatewayProgress,
  isRejectedElsewhere,
  PROGRAMMED,
  programmedGateway,
  rejectedElsewhere,
} from './gateway-programmed.ts';

const PLURALS = ['gateways', 'listenersets'];

/**
 * Returns whether the status of a Gateway or ListenerSet says that its proxies have not answered to
 * this version of it, or that those of a control plane that does not lead reject it.
 */
export function awaitsAnswer({ collection, generation, status }: ServedObject): boolean {
  if (!PLURALS.includes(collection.plural) || !isFields(status)) return false;
  const parts = [status, ...fieldsIn(status.listeners)];
  return parts.some(part => fieldsIn(part.conditions).some(isAwaited(generation)));
}

/**
 * Returns the status of such an object with the answer of our proxies, and nothing else changed.
 * `now` is in milliseconds since the epoch.
 * @returns undefined when they have not answered, or the object lacks something else
 */
export function withAnswer(
  { collection, generation, status }: ServedObject,
  progress: GatewayProgress,
  now: number,
): object | undefined {
  const { proxies } = progress;
  if (proxies === undefined || !isFields(status)) return undefined;
  const told = proxies === 'accepted' ? PROGRAMMED : rejectedElsewhere(proxies.rejected);
  const own =
    told === PROGRAMMED && collection.plural === 'gateways' ? programmedGateway(progress) : told;
  const answer = (conditions: unknown, to: NamedCondition) =>
    fieldsIn(conditions).map(each =>
      isAwaited(generation)(each) && isAnswer(to, each) ? stamp(to, each, generation, now) : each,
    );
  const conditions = answer(status.conditions, own);
  const listeners = fieldsIn(status.listeners).map(listener => ({
    ...listener,
    conditions: answer(listener.conditions, told),
  }));
  const next = { ...status, conditions, listeners };
  return isDeepStrictEqual(next, status) ? undefined : { conditions, listeners };
}

/** Of two that reject it each would otherwise replace what the other says. */
function isAnswer(told: NamedCondition, before: Fields): boolean {
  return told.status === 'True' || (isRejectedElsewhere(told) && before.status === 'Unknown');
}

const isAwaited = (generation: number) => (condition: Fields) =>
  condition.type === 'Programmed' &&
  condition.observedGeneration === generation &&
  (condition.status === 'Unknown' || isRejectedElsewhere(condition));
