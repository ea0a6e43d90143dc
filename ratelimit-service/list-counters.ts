import type { UnaryMethod } from '#grpc/unary/method.ts';
import { knowledgeMethod } from '#process/knowledge-method.ts';
import type { Worker } from '#process/worker.ts';
import { ALL_COUNTERS, OWN_COUNTERS } from './counters-of-all.ts';
import { joinedCounters, type LimitCounters } from './limit-counters.ts';

type Own = (most: number, now: number) => readonly LimitCounters[];

/** Keys of a limit in one answer, whatever is asked for. */
const MOST_KEYS = 20;

/** Tells operators what all processes of this replica know of counters. */
export function listCounters(
  own: Own,
  { store, worker }: { readonly store: string; readonly worker: Worker | undefined },
): UnaryMethod {
  worker?.calls.answer(OWN_COUNTERS, most => own(Number(most), Date.now()));
  return knowledgeMethod('CounterKnowledge', 'ListCounters', async request => {
    const most = Math.min(Number(request.most), MOST_KEYS);
    const answers = worker
      ? ((await worker.calls.ask(ALL_COUNTERS, most)) as (readonly LimitCounters[])[])
      : [own(most, Date.now())];
    const told = answers.filter(Array.isArray);
    return { limits: joinedCounters(told, most), store, processes: told.length };
  });
}
