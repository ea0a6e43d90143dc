import type { Authority } from '#certificates/authority/authority.ts';
import type { Clock } from './clock.ts';

export type KeepTendingOptions = {
  readonly authority: Authority;
  /** Lifetime of certificates, in ms. */
  readonly leafMs: number;
  readonly clock: Clock;
  /**
   * Looks at what is kept, and renews it where that is due.
   * @returns false when another process was faster
   */
  tendOnce(): Promise<boolean>;
  /**
   * Called once for each outage. What was written before stays, and the write is tried again soon.
   */
  onTrouble(reason: string): void;
};

export type Tending = {
  /** Looks at once. */
  turn(): void;
  close(): void;
};

const PAUSE_MS = { least: 20, most: 30_000 };
/** Several replicas keep the same Secret. */
const ATTEMPTS = 5;

/**
 * Tends what is kept again and again until `close`, and whenever the authority's roots have
 * changed. Resolves after the first attempt, even a failed one.
 */
export async function keepTending(options: KeepTendingOptions): Promise<Tending> {
  const { authority, clock, leafMs, onTrouble } = options;
  let failing = false;
  let ended = false;
  let cancelTimer = () => {};
  let turns = Promise.resolve();
  const attempt = async () => {
    if (ended) return;
    try {
      await tend(options);
      failing = false;
    } catch (error) {
      if (!failing) onTrouble((error as Error).message);
      failing = true;
    }
  };
  const turn = () => {
    cancelTimer();
    turns = turns.then(attempt).then(() => {
      cancelTimer();
      const pause = Math.min(Math.max(leafMs / 20, PAUSE_MS.least), PAUSE_MS.most);
      if (!ended) cancelTimer = clock.after(pause, turn);
    });
  };
  const endRoots = authority.onRoots(turn);
  turn();
  await turns;
  return {
    turn,
    close() {
      ended = true;
      endRoots();
      cancelTimer();
    },
  };
}

async function tend({ tendOnce }: KeepTendingOptions): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (await tendOnce()) return;
  }
  throw new Error('other processes keep changing it');
}
