import { StoreUnavailable } from './counter-store.ts';

/**
 * What the store gives, or StoreUnavailable when it takes longer than `ms`. An answer that came
 * while we were busy ourselves is read before it is given up: timers run first, then sockets, then
 * immediates.
 */
export function inTime<T>(ms: number, counted: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = () =>
    reject(new StoreUnavailable('the counter store did not answer in half of the time'));
  const timer = setTimeout(() => setImmediate(giveUp), ms);
  return Promise.race([counted, late]).finally(() => clearTimeout(timer));
}
