import type { KeyObject } from 'node:crypto';
import { BoundedCache } from '../jwt/bounded-cache.ts';
import type { RecordStore } from '../store/record-store.ts';
import { storeName } from '../store/sealed-record.ts';
import { AttemptGate } from './attempt-gate.ts';

/** Who tries credentials: a user name or client ID, from a client's network, at one Filter. */
export type Attempt = { readonly realm: string; readonly name: string; readonly network: string };

export type RefusedCredentialsParts = {
  readonly store: RecordStore;
  readonly storeKey: KeyObject;
  /** ms since the epoch */
  readonly now: () => number;
};

const WINDOW_MS = 60_000;
const MOST = { name: 5, network: 30 } as const;
/** Seconds: the window may just have begun. */
export const RETRY_AFTER = '60';
/** How long this process remembers a limit that it met. Each further guess renews it. */
const BLOCK_MS = 10_000;

const BOUNDS = { entries: 20_000, weight: 20_000 };

type Limit = keyof typeof MOST;
type Guesses = { readonly number: number; readonly until: number };

/**
 * Counts refused credentials in the store, for all Filters and replicas: after 5 a minute for one name from one network, or 30 from one network, no
 * more are tried. While a network is limited, this process counts guesses for the name as well. Source: decisions, "Refused credentials".
 */
export class RefusedCredentials {
  readonly #parts: RefusedCredentialsParts;
  readonly #gate = new AttemptGate();
  readonly #blocked = new BoundedCache<number>(BOUNDS);
  readonly #guesses = new BoundedCache<Guesses>(BOUNDS);

  constructor(parts: RefusedCredentialsParts) {
    this.#parts = parts;
  }

  /** A limit that this process met a moment ago: without it a guess could be tried on tokens that are cached. */
  blockedBy(attempt: Attempt): Limit | undefined {
    const now = this.#parts.now();
    const blocked = (limit: Limit) => (this.#blocked.get(localName(limit, attempt)) ?? 0) > now;
    if (blocked('name')) return 'name';
    return blocked('network') ? 'network' : undefined;
  }

  /** Whether no more may be tried. */
  async isLimited(attempt: Attempt): Promise<boolean> {
    const counts = [this.#count('name', attempt), this.#count('network', attempt)];
    const [name = 0, network = 0] = await Promise.all(counts);
    if (network >= MOST.network) this.#guess(attempt);
    return name >= MOST.name || network >= MOST.network;
  }

  /** In memory alone: who may not try any more shall not fill the store with names either. */
  #guess(attempt: Attempt): void {
    const now = this.#parts.now();
    const key = localName('name', attempt);
    const known = this.#guesses.get(key);
    const { number, until } =
      known !== undefined && now < known.until ? known : { number: 0, until: now + WINDOW_MS };
    this.#guesses.set(key, { number: number + 1, until });
    if (number + 1 >= MOST.name) this.#blocked.set(key, now + WINDOW_MS);
  }

  /** Tries credentials unless too many were refused; `refused` is counted before it is given. */
  async attempt<T>(
    attempt: Attempt,
    signal: AbortSignal,
    ask: () => Promise<T | 'refused'>,
  ): Promise<T | 'refused' | 'limited'> {
    return this.#within('name', attempt, signal, () =>
      this.#within('network', attempt, signal, async () => {
        const answer = await ask();
        if (answer === 'refused')
          await Promise.all([this.#count('name', attempt, 1), this.#count('network', attempt, 1)]);
        return answer;
      }),
    );
  }

  async #within<T>(
    limit: Limit,
    attempt: Attempt,
    signal: AbortSignal,
    run: () => Promise<T>,
  ): Promise<T | 'limited'> {
    const count = () => this.#count(limit, attempt);
    const leave = await this.#gate.enter(this.#nameOf(limit, attempt), MOST[limit], count, signal);
    if (leave === 'limited') return leave;
    try {
      return await run();
    } finally {
      leave();
    }
  }

  async #count(limit: Limit, attempt: Attempt, add = 0): Promise<number> {
    const counted = await this.#parts.store.count(this.#nameOf(limit, attempt), add, WINDOW_MS);
    if (counted >= MOST[limit]) this.#blocked.set(localName(limit, attempt), this.#parts.now() + BLOCK_MS);
    return counted;
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
