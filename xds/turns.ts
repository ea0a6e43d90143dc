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
    if (this.#waiting.length > 0 || this.#ran >= this.#options.atOnce || this.isClosed)
      this.#waiting.push({ work, weight });
    else this.#run({ work, weight });
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

  #run({ work, weight }: Work): void {
    this.#ran += weight;
    work();
  }

  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    const begin = () => this.#begin();
    if (this.isClosed) this.#options.after(CLOSED_MS, begin);
    else this.#options.later(begin);
  }

  #begin(): void {
    this.#isAsked = false;
    this.#ran = 0;
    while (this.#ran < this.#options.atOnce && !this.isClosed) {
      const work = this.#waiting.shift();
      if (work === undefined) return;
      this.#run(work);
    }
    if (this.#waiting.length > 0) this.#ask();
  }
}
