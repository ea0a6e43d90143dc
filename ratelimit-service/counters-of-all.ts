import { within } from '#grpc/within.ts';
import type { Calls } from '#process/calls.ts';

/** The question of one process to all, and that to each. */
export const ALL_COUNTERS = 'counters of all';
export const OWN_COUNTERS = 'own counters';

/** A worker that does not answer within this time, in ms, is left out. */
const ANSWER_MS = 1_000;

/** Returns what the leader process shares: each worker's answer, for the one that asks. */
export function shareCounters(): (calls: Calls) => () => void {
  const workers = new Set<Calls>();
  return calls => {
    workers.add(calls);
    calls.answer(ALL_COUNTERS, async most => {
      const told: unknown[] = [];
      const asked = [...workers].map(async worker => {
        told.push(await worker.ask(OWN_COUNTERS, most));
      });
      await within(ANSWER_MS, Promise.allSettled(asked));
      return told;
    });
    return () => void workers.delete(calls);
  };
}
