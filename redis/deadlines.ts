import { RedisUnavailable } from './redis-unavailable.ts';

type Call = {
  readonly due: number;
  readonly reject: (error: RedisUnavailable) => void;
  done: boolean;
};

/**
 * Times calls that all have the same time to answer. So the oldest is always due first, and one
 * timer serves any number of them. Times are of `now`, in ms, which never goes back.
 */
export class Deadlines {
  readonly #ms: number;
  readonly #now: () => number;
  #calls: Call[] = [];
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(ms: number, now: () => number) {
    this.#ms = ms;
    this.#now = now;
  }

  /** Calls that wait for an answer. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Returns what the work gives. Rejects with RedisUnavailable when it takes too long, and drops a
   * later result.
   */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call: Call = { due: this.#now() + this.#ms, reject, done: false };
      this.#calls.push(call);
      this.#waiting += 1;
      this.#timer ??= setTimeout(this.#check, this.#ms);
      work.then(
        value => this.#settle(call) && resolve(value),
        error => this.#settle(call) && reject(error),
      );
    });
  }

  /** Resolves when nothing waits any more, which is within the time to answer. */
  async drained(): Promise<void> {
    if (this.#waiting === 0) return;
    this.#drained ??= Promise.withResolvers();
    await this.#drained.promise;
  }

  /** Ends all calls that wait. */
  close(): void {
    for (const call of this.#calls)
      if (this.#settle(call)) call.reject(new RedisUnavailable('Redis: closed by this process'));
    this.#calls = [];
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #settle(call: Call): boolean {
    if (call.done) return false;
    call.done = true;
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#drained?.resolve();
    return true;
  }

  /**
   * Reads answers that came while this process was busy before it gives up a call. Timers run
   * first, then sockets, then this.
   */
  readonly #check = (): void => void setImmediate(() => this.#expire(this.#now()));

  #expire(now: number): void {
    const late = this.#calls.findIndex(({ done, due }) => !done && due > now);
    const over = this.#calls.splice(0, late < 0 ? this.#calls.length : late);
    for (const call of over)
      if (this.#settle(call))
        call.reject(new RedisUnavailable(`Redis: no answer within ${this.#ms} ms`));
    const [next] = this.#calls;
    this.#timer =
      next === undefined
        ? undefined
        : setTimeout(this.#check, Math.max(1, Math.ceil(next.due - now)));
  }
}
