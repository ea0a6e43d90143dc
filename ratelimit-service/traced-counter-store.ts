import type { SpanStart, Traces } from '#process/traces/traces.ts';
import type { CounterStore } from './counter-store.ts';

/** Returns a shared store with a span for each time that counts are asked. Keys are not told. */
export function tracedCounterStore(store: CounterStore, traces: Traces | undefined): CounterStore {
  if (traces === undefined) return store;
  return {
    count: hits => {
      const attributes = { ...START.attributes, 'gateway.counters': hits.length };
      return traces.span({ ...START, attributes }, () => store.count(hits));
    },
    reset: hits => store.reset(hits),
    status: () => store.status(),
    look: async () => store.look?.(),
    close: () => store.close(),
  };
}

const START: SpanStart = {
  name: 'EVALSHA redis',
  kind: 'client',
  attributes: { 'db.system.name': 'redis', 'db.operation.name': 'EVALSHA' },
};
