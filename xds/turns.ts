export type TurnsOptions = {
  /** How much runs before other work of the process has its turn. */
  readonly atOnce: number;
  /** Calls back once other work of the process has had its turn. */
  later(callback: () => void): void;
  after(ms: number, callback: () => void): () => void;
};

/** Bytes of responses that transports have not taken yet. Beyond this, other streams wait. */
export const MAX_UNTAKEN_BYTES = 64 * 1024 * 1024;

/** A transport that takes nothing for this long, in ms, no longer holds up other streams. */
export const ASIDE_MS = 2_000;

/** How often it is looked whether transports have taken enough, in ms. */
const CLOSED_MS = 5;

type Work = { readonly work: () => void; readonly weight: number };

/**
 * Runs the work of many streams in turns, so that a change for thousands of them does not stop all
 * else. Few streams are served at once. No turn begins while too many bytes wait for their
 * transports, which bounds the memory.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #waiting: Work[] = [];
  /** Work that begins something, and so makes more work. */
  readonly #beginning: Work[] = [];
  #untaken = 0;
  #ran = 0;
  #isAsked = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Whether too many bytes wait for their transports. */
  get isClosed(): boolean {
    return this.#untaken > MAX_UNTAKEN_BYTES;
  }

  /**
   * Runs the work, now or in one of the next turns. `weight` says how much of a turn it takes. Work
   * must not throw.
   */
  take(work: () => void, weight = 1): void {
    if (this.#mayRun) this.#run({ work, weight });
    else this.#waiting.push({ work, weight });
    this.#ask();
  }

  /**
   * The same for work that begins something. One of it has its turn each time, and more when
   * nothing else waits. So what has begun comes to an end, and its memory is free again.
   */
  begin(work: () => void, weight: number): void {
    if (this.#mayRun && this.#beginning.length === 0) this.#run({ work, weight });
    else this.#beginning.push({ work, weight });
    this.#ask();
  }

  /**
   * Counts bytes that are given to a transport.
   * @returns what is called when it has taken them
   */
  send(bytes: number): () => void {
    let counts = true;
    this.#untaken += bytes;
    const taken = () => {
      if (counts) this.#untaken -= bytes;
      counts = false;
      cancel();
    };
    const cancel = this.#options.after(ASIDE_MS, taken);
    return taken;
  }

  get #mayRun(): boolean {
    return this.#waiting.length === 0 && this.#ran < this.#options.atOnce && !this.isClosed;
  }

  #run({ work, weight }: Work): void {
    this.#ran += weight;
    work();
  }

  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    const turn = () => this.#turn();
    if (this.isClosed) this.#options.after(CLOSED_MS, turn);
    else this.#options.later(turn);
  }

  #turn(): void {
    this.#isAsked = false;
    this.#ran = 0;
    let next = this.isClosed ? undefined : this.#beginning.shift();
    while (this.#ran < this.#options.atOnce && !this.isClosed) {
      next ??= this.#waiting.shift() ?? this.#beginning.shift();
      if (next === undefined) return;
      this.#run(next);
      next = undefined;
    }
    if (this.#waiting.length + this.#beginning.length > 0) this.#ask();
  }
}
