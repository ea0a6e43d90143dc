import type { Calls } from '#process/calls.ts';

/** The question of one process to all, and that to each. */
export const ALL_COUNTERS = 'counters of all';
export const OWN_COUNTERS = 'own counters';

/** Returns what the leader process shares: each worker's answer, for the one that asks. */
export function shareCounters(): (calls: Calls) => () => void {
  const workers = new Set<Calls>();
  return calls => {
    workers.add(calls);
    calls.answer(ALL_COUNTERS, most =>
      Promise.all(
        [...workers].map(worker => worker.ask(OWN_COUNTERS, most).catch(() => undefined)),
      ),
    );
    return () => void workers.delete(calls);
  };
}
