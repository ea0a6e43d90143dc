import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import { LATE, type Refreshed, type RefreshParts, refreshOnce } from './refresh-once.ts';
import type { LoadedSession } from './session-records.ts';

/** How long a request waits, so that its own 4 s suffice for an answer. */
const PATIENCE_MS = 3_000;
/**
 * The shortest pause after a failed refresh. The provider may ask for a longer one (RFC 9110
 * section 10.2.3), up to the longest rest.
 */
const REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;
const MOST_AT_REST = 1_000;

/**
 * Refreshes sessions of one realm, once per session however many requests of this process see it.
 * Never rejects.
 */
export class Refreshes {
  readonly #parts: RefreshParts;
  readonly #running = new Map<string, Promise<Refreshed>>();
  readonly #resting = new Map<string, { readonly until: number; readonly outcome: Refreshed }>();

  constructor(parts: RefreshParts) {
    this.#parts = parts;
  }

  /** Waits for at most 3 s. The refresh goes on behind, and its result is stored. */
  async refresh(loaded: LoadedSession, signal: AbortSignal): Promise<Refreshed> {
    const enough = new AbortController();
    const waiting = AbortSignal.any([signal, enough.signal]);
    const late = this.#parts.sources.pause(PATIENCE_MS, waiting).then(() => LATE);
    const outcome = await Promise.race([this.#shared(loaded), late]);
    enough.abort();
    return outcome;
  }

  #shared(loaded: LoadedSession): Promise<Refreshed> {
    const resting = this.#resting.get(loaded.key);
    if (resting !== undefined && resting.until > this.#parts.sources.now())
      return Promise.resolve(resting.outcome);
    const running = this.#running.get(loaded.key) ?? this.#start(loaded);
    this.#running.set(loaded.key, running);
    return running;
  }

  async #start(loaded: LoadedSession): Promise<Refreshed> {
    const outcome = await refreshOnce(this.#parts, loaded).catch(
      (error): Refreshed => ({ kind: 'failed', error }),
    );
    this.#running.delete(loaded.key);
    this.#resting.delete(loaded.key);
    if (outcome.kind === 'failed') this.#rest(loaded.key, outcome, restAfter(outcome.error));
    return outcome;
  }

  #rest(key: string, outcome: Refreshed, ms: number): void {
    const [oldest] = this.#resting.keys();
    if (this.#resting.size >= MOST_AT_REST && oldest !== undefined) this.#resting.delete(oldest);
    this.#resting.set(key, { until: this.#parts.sources.now() + ms, outcome });
  }
}

function restAfter(error: unknown): number {
  const wanted = error instanceof ProviderError ? (error.retryAfter ?? 0) : 0;
  return Math.max(REST_MS, Math.min(LONGEST_REST_MS, wanted));
}
