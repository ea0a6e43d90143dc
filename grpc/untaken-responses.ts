import { constants, type ServerHttp2Stream } from 'node:http2';

/** How often it is looked what peers have taken, in ms. */
const LOOK_MS = 2_000;

/**
 * Bounds what is kept of responses that peers do not take, of all calls of a server. When it is too
 * much, calls end whose peers have taken nothing since the last look, those that have waited
 * longest first. A response is written whole, and a window that stays closed would keep it.
 */
export class UntakenResponses {
  readonly #mostBytes: number;
  readonly #lookMs: number;
  /** Bytes of each call at the last look. */
  readonly #calls = new Map<ServerHttp2Stream, number>();
  #looking: NodeJS.Timeout | undefined;

  constructor(mostBytes: number, lookMs = LOOK_MS) {
    this.#mostBytes = mostBytes;
    this.#lookMs = lookMs;
  }

  watch(stream: ServerHttp2Stream): void {
    this.#calls.set(stream, 0);
    this.#looking ??= setInterval(() => this.look(), this.#lookMs).unref();
    stream.once('close', () => {
      this.#calls.delete(stream);
      if (this.#calls.size > 0) return;
      clearInterval(this.#looking);
      this.#looking = undefined;
    });
  }

  /** Ends what has to end now. */
  look(): void {
    let total = 0;
    for (const [{ writableLength }] of this.#calls) total += writableLength;
    for (const [stream, before] of this.#calls) {
      const { writableLength: now } = stream;
      this.#calls.set(stream, now);
      if (total <= this.#mostBytes || before === 0 || now < before) continue;
      total -= now;
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
  }
}
