import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import { type ProviderFinding, ProviderHealth } from '#ext-authz/provider/provider-health.ts';
import type { ProviderAspect, ProviderListener } from '#ext-authz/provider/provider-listener.ts';

/** How a request of the provider went. */
export type Heard = {
  readonly aspect: ProviderAspect;
  readonly error: ProviderError | undefined;
  /** ms since the epoch */
  readonly at: number;
};

export type FilterWatchParts = {
  /** ms since the epoch */
  readonly now: () => number;
  /** Resolves after `ms`, or when the signal aborts. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Is called when the result may have changed. */
  readonly changed: () => void;
  /** Is called when the provider could not be asked because of a mistake of ours. */
  readonly failed: (error: unknown) => void;
};

/**
 * Asks the provider for what requests will need, and tells the watch which parts fail. Rejects with
 * a ProviderError.
 */
export type Look = (signal: AbortSignal) => Promise<void>;

/** The longest time until documents are asked for again. */
const LONGEST_PAUSE_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;

/**
 * Knows what is wrong with the provider of one Filter, from its requests. While something is wrong
 * it asks the provider again, whether or not a request needs it. What works again is no longer
 * reported.
 */
export class FilterWatch {
  readonly #parts: FilterWatchParts;
  readonly #health = new ProviderHealth();
  readonly #end = new AbortController();
  #look: Look | undefined;
  #heard: Heard | undefined;
  #looking = false;
  readonly #expiring = new Set<ProviderAspect>();

  constructor(parts: FilterWatchParts) {
    this.#parts = parts;
  }

  readonly heard: ProviderListener = (aspect, error) => {
    if (this.#end.signal.aborted) return;
    if (aspect !== 'endpoints') this.#heard = { aspect, error, at: this.#parts.now() };
    if (!this.#health.heard(aspect, error, this.#parts.now())) return;
    this.#parts.changed();
    if (this.#look === undefined) return;
    if (this.#health.failing) void this.#lookAgain(FIRST_PAUSE_MS);
    if (this.#health.endOf(aspect) !== undefined) void this.#expire(aspect);
  };

  /** Returns how the newest request went. */
  get lastHeard(): Heard | undefined {
    return this.#heard;
  }

  findings(): readonly ProviderFinding[] {
    return this.#end.signal.aborted ? [] : this.#health.findings(this.#parts.now());
  }

  /**
   * Starts to ask the provider again while something is wrong. With `inMs` it also asks once after
   * that time, though nothing is known to be wrong.
   */
  begin(look: Look, inMs: number | undefined): void {
    this.#look = look;
    if (inMs !== undefined) void this.#lookAgain(inMs);
  }

  end(): void {
    this.#end.abort();
  }

  async #lookAgain(firstMs: number): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    let ms = firstMs;
    do {
      await this.#parts.pause(ms, this.#end.signal);
      if (this.#end.signal.aborted) return;
      await this.#lookOnce();
      ms = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, ms * 2));
    } while (this.#health.failing);
    this.#looking = false;
  }

  async #lookOnce(): Promise<void> {
    try {
      await this.#look?.(this.#end.signal);
      this.heard('endpoints', undefined);
    } catch (error) {
      if (!(error instanceof ProviderError)) this.#parts.failed(error);
      // Faults of documents are heard where the documents are asked for.
      else if (error.code === 'missing_endpoint') this.heard('endpoints', error);
    }
  }

  /** Waits for the end of each aspect by itself, since they are believed for different times. */
  async #expire(aspect: ProviderAspect): Promise<void> {
    if (this.#expiring.has(aspect)) return;
    this.#expiring.add(aspect);
    for (let ms = this.#leftOf(aspect); ms > 0; ms = this.#leftOf(aspect)) {
      await this.#parts.pause(ms, this.#end.signal);
      if (this.#end.signal.aborted) return;
    }
    this.#expiring.delete(aspect);
    this.#parts.changed();
  }

  #leftOf(aspect: ProviderAspect): number {
    return (this.#health.endOf(aspect) ?? 0) - this.#parts.now();
  }
}
