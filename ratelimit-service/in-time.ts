import { StoreUnavailable } from './counter-store.ts';

/**
 * Resolves with what the store gives, or rejects with StoreUnavailable after `ms`. Node runs timers
 * first, then sockets, then immediates. So an answer that came while this process was busy is read
 * before the store counts as late.
 */
export function inTime<T>(ms: number, counted: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = () =>
    reject(new StoreUnavailable('the counter store did not answer in half of the time'));
  const timer = setTimeout(() => setImmediate(giveUp), ms);
  return Promise.race([counted, late]).finally(() => clearTimeout(timer));
}
