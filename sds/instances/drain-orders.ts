import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { DrainedStore } from '#files/drained-store.ts';
import type { OrderTaker } from '#process/orders.ts';
import type { DrainedAddress, DrainedSource } from './drained-source.ts';

/**
 * Drains the instances that the console's operators drain, until they withdraw it. What is in the
 * store is drained until the control plane has told all orders.
 */
export function drainOrders(
  source: DrainedSource | undefined,
  store: DrainedStore | undefined,
  log: Pick<Logger, 'info' | 'error'>,
): OrderTaker {
  const drained = new Map<string, DrainedAddress>();
  let kept = store?.read() ?? [];
  source?.drain(kept);
  return {
    given(name, order) {
      if (!('drain' in order)) throw new Error('it drains instances alone');
      if (source === undefined) throw new Error('it serves no instances');
      const { address, port } = order.drain;
      drained.set(name, { address, port });
      log.info({ address, port }, 'an instance is drained, as the control plane asks');
      return 'no proxy gets the instance any more';
    },
    withdrawn(name) {
      const instance = drained.get(name);
      if (instance === undefined) return undefined;
      drained.delete(name);
      log.info({ ...instance }, 'an instance is no longer drained');
      return 'the proxies get the instance again';
    },
    allKnown() {
      const all = [...drained.values()];
      source?.drain(all);
      if (isDeepStrictEqual(all, kept)) return;
      kept = all;
      try {
        store?.write(all);
      } catch (err) {
        log.error({ err }, 'cannot keep which instances are drained');
      }
    },
  };
}
