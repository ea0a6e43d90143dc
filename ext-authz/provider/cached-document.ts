import { usableFor } from './freshness.ts';
import type { HttpClient, ProviderAnswer } from './http-client.ts';
import { factsOf, placeOf } from './http-client.ts';
import { readDocument } from './json-answer.ts';
import { ProviderError } from './provider-error.ts';
import { ReloadBudget } from './reload-budget.ts';
import { waitFor } from './wait-for.ts';

export type DocumentSource<T> = {
  /** Names it in errors, such as `the discovery document`. */
  readonly what: string;
  readonly url: string;
  /** Reads the document. May throw a ProviderError. */
  readonly parse: (json: unknown) => T | Promise<T>;
  /** Whether the last good document serves for as long as no newer one is available. */
  readonly servesExpired?: boolean;
};

export type DocumentOptions = {
  /** ms (docs/reference/kinds/filter.md) */
  readonly maxStale: number;
  /** ms since the epoch */
  readonly now: () => number;
  /** Hears how each request of the document went. Undefined means that it is here. */
  readonly heard?: (error: ProviderError | undefined) => void;
};

type Stored<T> = { readonly value: T; readonly usableUntil: number };
type Asking = { readonly anew: boolean; readonly probing?: boolean };
type Failure = { readonly error: unknown; readonly retryAt: number };

const FETCH_MS = 4_000;
/** An expired document serves when the new one takes longer. */
const EXPIRED_AFTER_MS = 1_000;
/**
 * The pause after a failure. A longer one would last beyond the outage, for whose end users wait.
 */
const PAUSE_MS = 1_000;
/** The longest `Retry-After`. */
const LONGEST_PAUSE_MS = 30_000;

/**
 * A JSON document of the provider, kept as RFC 9111 allows (`usableFor`). Requests that miss it at
 * the same time share one fetch, which goes on when they give up. After a failure it is fetched
 * again after 1 s, or when `Retry-After` says, up to 30 s. Until then callers get the same error at
 * once, or the last good document where the source allows it.
 */
export class CachedDocument<T> {
  readonly #client: HttpClient;
  readonly #source: DocumentSource<T>;
  readonly #options: DocumentOptions;
  #stored: Stored<T> | undefined;
  #failure: Failure | undefined;
  #pending: Promise<T> | undefined;
  /** The last request of it failed. */
  #failing = false;
  readonly #reloads = new ReloadBudget();

  constructor(client: HttpClient, source: DocumentSource<T>, options: DocumentOptions) {
    this.#client = client;
    this.#source = source;
    this.#options = options;
  }

  /** Returns the document that may be used now. Rejects with a ProviderError. */
  async get(signal: AbortSignal): Promise<T> {
    const usable = this.#usable();
    if (usable !== undefined) return usable;
    if (this.#stored === undefined || this.#source.servesExpired !== true)
      return this.#load(signal, { anew: false });
    return this.#newerThan(this.#stored.value, signal);
  }

  /**
   * Does the same without a request that waits for it. Its failure keeps no request from asking. It
   * asks for what was missing at the last request.
   */
  async probe(signal: AbortSignal): Promise<T> {
    const usable = this.#failing ? undefined : this.#usable();
    return usable ?? this.#load(signal, { anew: false, probing: true });
  }

  /**
   * Fetches the document for what is missing in it, as often as `ReloadBudget` allows. Otherwise it
   * returns what `get` would, or the error of the last fetch.
   */
  async reload(missing: string, signal: AbortSignal): Promise<T> {
    if (this.#pending !== undefined || this.#reloads.take(missing, this.#options.now()))
      return this.#load(signal, { anew: true });
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.get(signal);
  }

  /** Returns the last known document, fresh or stale. */
  known(): T | undefined {
    return this.#stored?.value;
  }

  #usable(): T | undefined {
    const stored = this.#stored;
    return stored !== undefined && this.#options.now() < stored.usableUntil
      ? stored.value
      : undefined;
  }

  /** Waits a moment for a newer document, and not at all when the last fetch failed. */
  #newerThan(expired: T, signal: AbortSignal): T | Promise<T> {
    const wasFailing = this.#failing;
    const soon = AbortSignal.any([signal, AbortSignal.timeout(EXPIRED_AFTER_MS)]);
    const newer = this.#load(soon, { anew: false }).catch(() => expired);
    return wasFailing ? expired : newer;
  }

  async #load(signal: AbortSignal, how: Asking): Promise<T> {
    if (this.#pending === undefined) {
      if (this.#failure !== undefined && this.#options.now() < this.#failure.retryAt)
        throw this.#failure.error;
      this.#pending = this.#fetch(how).finally(() => {
        this.#pending = undefined;
      });
    }
    return waitFor(this.#pending, placeOf(this.#source), signal);
  }

  async #fetch({ anew, probing = false }: Asking): Promise<T> {
    try {
      const answer = await this.#ask(anew);
      const value = await this.#source.parse(readDocument(answer, this.#source));
      const now = this.#options.now();
      this.#stored = {
        value,
        usableUntil: now + usableFor(answer.headers, this.#options.maxStale, now),
      };
      this.#failure = undefined;
      this.#failing = false;
      this.#options.heard?.(undefined);
      return value;
    } catch (error) {
      this.#failing = true;
      if (!probing || this.#failure !== undefined) this.#failure = this.#nextFailure(error);
      if (error instanceof ProviderError) this.#options.heard?.(error);
      throw error;
    }
  }

  async #ask(anew: boolean): Promise<ProviderAnswer> {
    const { what, url } = this.#source;
    const directive = directiveOf(this.#options.maxStale, anew);
    const headers = {
      accept: 'application/json',
      ...(directive !== undefined && { 'cache-control': directive }),
    };
    const answer = await this.#client.send({
      ...{ what, url, headers, method: 'GET' },
      signal: AbortSignal.timeout(FETCH_MS),
    });
    if (answer.status !== 200)
      throw new ProviderError('http_status', statusText(this.#source, answer), factsOf(answer));
    return answer;
  }

  #nextFailure(error: unknown): Failure {
    const wanted = error instanceof ProviderError ? (error.retryAfter ?? 0) : 0;
    const pause = Math.max(PAUSE_MS, Math.min(LONGEST_PAUSE_MS, wanted));
    return { error, retryAt: this.#options.now() + pause };
  }
}

/**
 * Writes whole seconds (RFC 9111 section 5.2.1). Caches on the way must not answer when the
 * document is asked for again.
 */
function directiveOf(maxStale: number, anew: boolean): string | undefined {
  if (anew) return 'no-cache';
  return maxStale > 0 ? `max-stale=${Math.ceil(maxStale / 1_000)}` : undefined;
}

function statusText(source: DocumentSource<unknown>, { headers, status }: ProviderAnswer): string {
  const target = URL.parse(headers.get('location') ?? '', source.url);
  const redirect = status >= 300 && status < 400 && target !== null;
  return `${placeOf(source)}: status ${status}${redirect ? `, a redirect to ${target.origin}, which is not followed` : ''}`;
}
