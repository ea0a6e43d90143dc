import { ProviderError } from '#ext-authz/provider/provider-error.ts';

/** The attempts of one key. */
type Lane = {
  /** How many are inside and waiting. */
  users: number;
  inside: number;
  /** Resolves when the last one in the queue has been let in or turned away. */
  last: Promise<void>;
  /** Resolves when one leaves. */
  left: PromiseWithResolvers<void>;
};

/** See AttemptGate. */
export type Gate = Pick<AttemptGate, 'enter'>;

/**
 * Lets no more attempts go on at a time than may still fail. A burst thus cannot pass a limit that
 * is counted afterwards. First come, first served.
 */
export class AttemptGate {
  readonly #lanes = new Map<string, Lane>();

  /**
   * Waits until `count` and the attempts inside stay below `limit`. Returns what must be called to
   * leave, after a failure is counted. `limited` means that the count has reached the limit. Throws
   * a ProviderError `timeout` when the signal aborts meanwhile.
   */
  async enter(
    key: string,
    limit: number,
    count: () => Promise<number>,
    signal: AbortSignal,
  ): Promise<'limited' | (() => void)> {
    const lane = this.#laneOf(key);
    const before = lane.last;
    const { promise: turn, resolve: next } = Promise.withResolvers<void>();
    lane.last = turn;
    let entered = false;
    try {
      await before;
      entered = await letIn(lane, limit, count, signal);
    } finally {
      next();
      if (!entered) this.#release(key, lane);
    }
    return entered ? () => this.#leave(key, lane) : 'limited';
  }

  #laneOf(key: string): Lane {
    const lane = this.#lanes.get(key) ?? {
      ...{ users: 0, inside: 0 },
      last: Promise.resolve(),
      left: Promise.withResolvers<void>(),
    };
    this.#lanes.set(key, lane);
    lane.users += 1;
    return lane;
  }

  #leave(key: string, lane: Lane): void {
    lane.inside -= 1;
    lane.left.resolve();
    lane.left = Promise.withResolvers<void>();
    this.#release(key, lane);
  }

  #release(key: string, lane: Lane): void {
    lane.users -= 1;
    if (lane.users === 0) this.#lanes.delete(key);
  }
}

/** An attempt that leaves between the look and the answer is counted twice, never not at all. */
async function letIn(
  lane: Lane,
  limit: number,
  count: () => Promise<number>,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    if (signal.aborted) throw tooManyWait();
    const { inside, left } = lane;
    const counted = await count();
    if (counted >= limit) return false;
    if (counted + inside < limit) {
      lane.inside += 1;
      return true;
    }
    await left.promise;
  }
}

export function tooManyWait(): ProviderError {
  return new ProviderError('timeout', 'the token endpoint: too many attempts wait');
}
