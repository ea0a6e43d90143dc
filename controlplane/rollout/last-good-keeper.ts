import type { Parser } from '#resources/parse/parse.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourcesById } from '#resources/resource.ts';
import { fromLastGood, toLastGood } from './last-good.ts';
import type { LastGoodStore } from './last-good-store.ts';
import { systemProblem } from './problems.ts';

export type LastGoodKeeper = {
  /** What an earlier process stored. */
  readonly lastGood: ResourcesById;
  /**
   * Stores these soon. Only the newest of several waiting ones is written. A failure is a Problem
   * until a later write succeeds. It is retried every 5 s.
   */
  keep(accepted: ResourcesById): void;
  problems(): readonly Problem[];
  /** Stops retries, and resolves when no write waits. */
  close(): Promise<void>;
};

export type LastGoodKeeperParts = {
  readonly store: LastGoodStore;
  readonly parser: Parser;
  /** Called when a write fails, or succeeds again. */
  changed(): void;
  after(ms: number, callback: () => void): () => void;
};

/** A full disk has space again one day, without an edit of the resources. */
const RETRY_MS = 5_000;
/** The interval, in ms, of checks for the stored file, since it may be deleted. */
const LOOK_MS = 10_000;

/** Reads the stored resources, and writes accepted ones in the background, one write at a time. */
export async function lastGoodKeeper(parts: LastGoodKeeperParts): Promise<LastGoodKeeper> {
  const { store, parser, changed, after } = parts;
  let problem: Problem | undefined;
  let waiting: ResourcesById | undefined;
  let writing: Promise<void> | undefined;
  let cancelRetry = () => {};
  let isClosed = false;
  let inFile: ResourcesById | undefined;
  const fail = (what: string, error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    problem = systemProblem('State', '', `cannot ${what} the last good resources: ${reason}`);
  };
  const tryWrite = async (next: ResourcesById) => {
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
    // A write that has begun or failed meanwhile does the rest.
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
  const retry = (failed: ResourcesById) => {
    cancelRetry();
    cancelRetry = after(RETRY_MS, () => keep(failed));
  };
  const keep = (accepted: ResourcesById) => {
    cancelRetry();
    waiting = accepted;
    writing ??= write();
  };
  const kept = await store.read().catch((error: unknown) => {
    fail('read', error);
    return [];
  });
  return {
    lastGood: fromLastGood(kept, parser),
    keep,
    problems: () => (problem === undefined ? [] : [problem]),
    close: async () => {
      isClosed = true;
      await writing;
      cancelRetry();
    },
  };
}
