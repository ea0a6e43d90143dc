import type { ParseOptions } from '#resources/parse/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import { fromLastGood, toLastGood } from './last-good.ts';
import type { LastGoodStore } from './last-good-store.ts';
import { systemProblem } from './problems.ts';
import type { Resources } from './rollout.ts';

export type LastGoodKeeper = {
  /** What an earlier process kept. */
  readonly lastGood: Resources;
  /**
   * Keeps these soon; of several that wait only the newest is written. A failure is a Problem until
   * a later write succeeds; it is tried again every 5 s.
   */
  keep(accepted: Resources): void;
  problems(): readonly Problem[];
  /** Tries nothing again, and resolves when nothing waits to be written. */
  close(): Promise<void>;
};

export type LastGoodKeeperParts = {
  readonly store: LastGoodStore;
  readonly parse: ParseOptions;
  /** Called when a write has failed, or succeeds again. */
  changed(): void;
  after(ms: number, callback: () => void): () => void;
};

/** A disk that was full has space again one day, and nobody needs to edit anything for it. */
const RETRY_MS = 5_000;
/** What was kept may be deleted by somebody: so often it is looked whether it is there, in ms. */
const LOOK_MS = 10_000;

/** Reads what was kept, and writes what is accepted in the background, one write at a time. */
export async function lastGoodKeeper(parts: LastGoodKeeperParts): Promise<LastGoodKeeper> {
  const { store, parse, changed, after } = parts;
  let problem: Problem | undefined;
  let waiting: Resources | undefined;
  let writing: Promise<void> | undefined;
  let cancelRetry = () => {};
  let isClosed = false;
  let inFile: Resources | undefined;
  const fail = (what: string, error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    problem = systemProblem('State', '', `cannot ${what} the last good resources: ${reason}`);
  };
  const tryWrite = async (next: Resources) => {
    const before = problem;
    try {
      await store.write(toLastGood(next));
      problem = undefined;
      inFile = next;
      lookLater();
    } catch (error) {
      fail('keep', error);
    }
    if (problem !== before) changed();
    return problem === undefined;
  };
  const lookLater = () => {
    cancelRetry();
    cancelRetry = after(LOOK_MS, look);
  };
  const look = async () => {
    const isThere = await store.isThere();
    // A write that has begun or failed meanwhile sees to the rest.
    if (isClosed || writing !== undefined || problem !== undefined) return;
    if (isThere) lookLater();
    else if (inFile !== undefined) keep(inFile);
  };
  const write = async () => {
    while (waiting !== undefined) {
      const next = waiting;
      waiting = undefined;
      if (!(await tryWrite(next)) && waiting === undefined) retry(next);
    }
    writing = undefined;
  };
  const retry = (failed: Resources) => {
    cancelRetry();
    cancelRetry = after(RETRY_MS, () => keep(failed));
  };
  const keep = (accepted: Resources) => {
    cancelRetry();
    waiting = accepted;
    writing ??= write();
  };
  const kept = await store.read().catch((error: unknown) => {
    fail('read', error);
    return [];
  });
  return {
    lastGood: fromLastGood(kept, parse),
    keep,
    problems: () => (problem === undefined ? [] : [problem]),
    close: async () => {
      isClosed = true;
      await writing;
      cancelRetry();
    },
  };
}
