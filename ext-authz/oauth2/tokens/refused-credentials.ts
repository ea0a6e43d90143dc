import type { KeyObject } from 'node:crypto';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { storeName } from '#ext-authz/store/sealed-record.ts';
import { BoundedCache } from '#process/bounded-cache.ts';
import { AttemptGate, type Gate } from './attempt-gate.ts';
import type { RefusalNews, RefusalPeers } from './attempt-group.ts';

/** A try of credentials: a user name or client ID, from a client's network, at one Filter. */
export type Attempt = {
  readonly realm: string;
  /** The Filter's authorizationURL. */
  readonly provider: string;
  readonly name: string;
  readonly network: string;
};

export type RefusedCredentialsParts = {
  readonly store: RecordStore;
  readonly storeKey: KeyObject;
  /** ms since the epoch */
  readonly now: () => number;
  /** What the processes of one service share. Without it this process is alone. */
  readonly gate?: Gate | undefined;
  readonly peers?: RefusalPeers | undefined;
};

const WINDOW_MS = 60_000;
const LIMITS = ['name', 'network'] as const;
const MOST = { name: 5, network: 30 } as const;

const BOUNDS = { entries: 20_000, weight: 20_000 };

type Limit = (typeof LIMITS)[number];
type Guesses = { readonly number: number; readonly until: number };

/** No more may be tried. It says how many were refused, and nothing of the credentials. */
export type Limited = {
  readonly kind: 'limited';
  /** Whole seconds from 1 to 60. After them a try may succeed unless others fail meanwhile. */
  readonly retryAfter: number;
};

/**
 * Counts refused credentials in the store, for all Filters and replicas. No more are tried after 5
 * a minute for one name from one network, or 30 from one network. While a network is limited, this
 * process counts guesses for the name as well. Attempts at one provider wait for each other, but
 * never for those at another, which may hang. See docs/adr/0013-providers.md.
 */
export class RefusedCredentials {
  readonly #parts: RefusedCredentialsParts;
  readonly #gate: Gate;
  /** When a limit ends that this process has met, in ms since the epoch. */
  readonly #ends = new BoundedCache<number>(BOUNDS);
  readonly #guesses = new BoundedCache<Guesses>(BOUNDS);

  constructor(parts: RefusedCredentialsParts) {
    this.#parts = parts;
    this.#gate = parts.gate ?? new AttemptGate();
    parts.peers?.hear(news => this.#learn(news));
  }

  /**
   * Returns a limit that this process has met. Without it a guess could be tried on cached tokens.
   */
  blockedBy(attempt: Attempt): { readonly by: Limit; readonly limited: Limited } | undefined {
    const now = this.#parts.now();
    const by = LIMITS.find(limit => this.#endOf(limit, attempt) > now);
    return by && { by, limited: this.#limited(attempt) };
  }

  /** @returns undefined when more may be tried */
  async limitOf(attempt: Attempt): Promise<Limited | undefined> {
    const [name = 0, network = 0] = await Promise.all(
      LIMITS.map(limit => this.#count(limit, attempt)),
    );
    if (network >= MOST.network) this.#guess(attempt);
    return name >= MOST.name || network >= MOST.network ? this.#limited(attempt) : undefined;
  }

  /**
   * Counts in memory only. A client that may not try any more must not fill the store with names.
   */
  #guess(attempt: Attempt): void {
    const key = localName('name', attempt);
    this.#parts.peers?.tell({ key });
    this.#countGuess(key);
  }

  #countGuess(key: string): void {
    const now = this.#parts.now();
    const known = this.#guesses.get(key);
    const { number, until } =
      known !== undefined && now < known.until ? known : { number: 0, until: now + WINDOW_MS };
    this.#guesses.set(key, { number: number + 1, until });
    if (number + 1 >= MOST.name) this.#block(key, now + WINDOW_MS);
  }

  /** Tries credentials unless too many were refused. `refused` is counted before it is returned. */
  async attempt<T>(
    attempt: Attempt,
    signal: AbortSignal,
    ask: () => Promise<T | 'refused'>,
  ): Promise<T | 'refused' | Limited> {
    return this.#within('name', attempt, signal, () =>
      this.#within('network', attempt, signal, async () => {
        const answer = await ask();
        if (answer === 'refused')
          await Promise.all(LIMITS.map(limit => this.#count(limit, attempt, 1)));
        return answer;
      }),
    );
  }

  async #within<T>(
    limit: Limit,
    attempt: Attempt,
    signal: AbortSignal,
    run: () => Promise<T>,
  ): Promise<T | Limited> {
    const count = () => this.#count(limit, attempt);
    const lane = `${this.#nameOf(limit, attempt)} ${attempt.provider}`;
    const leave = await this.#gate.enter(lane, MOST[limit], count, signal);
    if (leave === 'limited') return this.#limited(attempt);
    try {
      return await run();
    } finally {
      leave();
    }
  }

  async #count(limit: Limit, attempt: Attempt, add = 0): Promise<number> {
    const { now, store } = this.#parts;
    const name = this.#nameOf(limit, attempt);
    const counted = await store.count(name, add, WINDOW_MS);
    if (counted < MOST[limit]) return counted;
    const left = await store.windowLeft(name, WINDOW_MS);
    this.#block(localName(limit, attempt), now() + left);
    return counted;
  }

  /**
   * Never shortens a limit, because guesses are remembered for longer than the store's own limit.
   */
  #block(key: string, ends: number): void {
    const known = this.#ends.get(key) ?? 0;
    if (known <= this.#parts.now()) this.#parts.peers?.tell({ key, ends });
    this.#ends.set(key, Math.max(ends, known));
  }

  /** Takes over what another process has met, which is told once. */
  #learn({ ends, key }: RefusalNews): void {
    if (ends === undefined) this.#countGuess(key);
    else this.#ends.set(key, Math.max(ends, this.#ends.get(key) ?? 0));
  }

  /** An end that is later than possible was set before the clock was set back. */
  #endOf(limit: Limit, attempt: Attempt): number {
    const ends = this.#ends.get(localName(limit, attempt)) ?? 0;
    return ends > this.#parts.now() + WINDOW_MS ? 0 : ends;
  }

  /** Takes the last end of the limits that were met. */
  #limited(attempt: Attempt): Limited {
    const ends = LIMITS.map(limit => this.#endOf(limit, attempt));
    const seconds = Math.ceil((Math.max(...ends) - this.#parts.now()) / 1000);
    return { kind: 'limited', retryAfter: Math.min(Math.max(1, seconds), WINDOW_MS / 1000) };
  }

  #nameOf(limit: Limit, { name, network, realm }: Attempt): string {
    const scope = { kind: 'refused', realm: limit === 'name' ? realm : '' };
    return storeName(
      this.#parts.storeKey,
      scope,
      limit === 'name' ? ['name', name, network] : ['network', network],
    );
  }
}

function localName(limit: Limit, { name, network, realm }: Attempt): string {
  return limit === 'name' ? JSON.stringify([realm, name, network]) : network;
}
