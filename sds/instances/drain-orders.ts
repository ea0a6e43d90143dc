import type { Logger } from 'pino';
import type { OrderTaker } from '#process/orders.ts';
import type { DrainedAddress, DrainedSource } from './drained-source.ts';

/** Drains the instances that the console's operators drain, until they withdraw it. */
export function drainOrders(
  source: DrainedSource | undefined,
  log: Pick<Logger, 'info'>,
): OrderTaker {
  const drained = new Map<string, DrainedAddress>();
  const apply = () => source?.drain([...drained.values()]);
  return {
    given(name, order) {
      if (!('drain' in order)) throw new Error('it drains instances alone');
      if (source === undefined) throw new Error('it serves no instances');
      const { address, port } = order.drain;
      drained.set(name, { address, port });
      log.info({ address, port }, 'an instance is drained, as the control plane asks');
      apply();
      return 'no proxy gets the instance any more';
    },
    withdrawn(name) {
      const instance = drained.get(name);
      if (instance === undefined) return undefined;
      drained.delete(name);
      log.info({ ...instance }, 'an instance is no longer drained');
      apply();
      return 'the proxies get the instance again';
    },
  };
}
