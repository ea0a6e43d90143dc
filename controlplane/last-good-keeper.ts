import type { Logger } from 'pino';
import type { ParseOptions } from '#resources/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import { fromLastGood, toLastGood } from './last-good.ts';
import type { LastGoodStore } from './last-good-store.ts';
import { systemProblem } from './problems.ts';
import type { Resources } from './rollout.ts';

export type LastGoodKeeper = {
  /** What an earlier process kept. */
  readonly lastGood: Resources;
  /** Keeps these soon; of several that wait only the newest is written. A failure is a Problem until a later write succeeds. */
  keep(accepted: Resources): void;
  problems(): readonly Problem[];
  /** Resolves when nothing waits to be written. */
  settled(): Promise<void>;
};

/** Reads what was kept, and writes what is accepted in the background, one write at a time. */
export async function lastGoodKeeper(
  store: LastGoodStore,
  options: ParseOptions,
  log: Logger,
): Promise<LastGoodKeeper> {
  let problem: Problem | undefined;
  let waiting: Resources | undefined;
  let writing: Promise<void> | undefined;
  const fail = (what: string) => (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    problem = systemProblem('State', '', `cannot ${what} the last good resources: ${reason}`);
    log.error(problem.message);
  };
  const write = async () => {
    while (waiting !== undefined) {
      const next = waiting;
      waiting = undefined;
      await store.write(toLastGood(next)).then(() => {
        problem = undefined;
      }, fail('keep'));
    }
    writing = undefined;
  };
  const kept = await store.read().catch(error => {
    fail('read')(error);
    return [];
  });
  return {
    lastGood: fromLastGood(kept, options),
    keep: accepted => {
      waiting = accepted;
      writing ??= write();
    },
    problems: () => (problem === undefined ? [] : [problem]),
    settled: async () => writing,
  };
}
