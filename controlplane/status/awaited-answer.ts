import { isDeepStrictEqual } from 'node:util';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { fieldsIn, stamp } from './conditions.ts';
import { type GatewayProgress, PROGRAMMED, programmedGateway } from './gateway-programmed.ts';

const PLURALS = ['gateways', 'listenersets'];

/**
 * Returns whether the status of a Gateway or ListenerSet says that its proxies have not answered to
 * this version of it.
 */
export function awaitsAnswer({ collection, generation, status }: ServedObject): boolean {
  if (!PLURALS.includes(collection.plural) || !isFields(status)) return false;
  const parts = [status, ...fieldsIn(status.listeners)];
  return parts.some(part => fieldsIn(part.conditions).some(isAwaited(generation)));
}

/**
 * Returns the status of such an object with the answer of our proxies, and nothing else changed.
 * `now` is in milliseconds since the epoch.
 * @returns undefined when they have not accepted the object, or it lacks something else
 */
export function withAnswer(
  { collection, generation, status }: ServedObject,
  progress: GatewayProgress,
  now: number,
): object | undefined {
  if (progress.proxies !== 'accepted' || !isFields(status)) return undefined;
  const own = collection.plural === 'gateways' ? programmedGateway(progress) : PROGRAMMED;
  const answer = (conditions: unknown, told: typeof PROGRAMMED) =>
    fieldsIn(conditions).map(each =>
      told.status === 'True' && isAwaited(generation)(each)
        ? stamp(told, each, generation, now)
        : each,
    );
  const conditions = answer(status.conditions, own);
  const listeners = fieldsIn(status.listeners).map(listener => ({
    ...listener,
    conditions: answer(listener.conditions, PROGRAMMED),
  }));
  const next = { ...status, conditions, listeners };
  return isDeepStrictEqual(next, status) ? undefined : { conditions, listeners };
}

const isAwaited =
  (generation: number) =>
  ({ type, status, observedGeneration }: Fields) =>
    type === 'Programmed' && status === 'Unknown' && observedGeneration === generation;
