import type { TokenProvider } from '#controlplane/compile/ext-authz/token-way.ts';
import type { FilterKeySet } from '#controlplane/knowledge/knowledge.ts';

/** Older keys, in ms, may have been withdrawn. */
export const MOST_AGE_MS = 3_000;

/** The keys that ext-authz told last, as long as they are fresh. */
export class KeysInForce {
  readonly #now: () => number;
  #sets: ReadonlyMap<string, FilterKeySet> = new Map();
  #at = Number.NEGATIVE_INFINITY;

  /** `now` is ms since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** `asked` is when ext-authz was asked for these, ms since the epoch. */
  take(sets: readonly FilterKeySet[], asked: number): void {
    this.#sets = new Map(sets.map(set => [set.filter, set]));
    this.#at = asked;
  }

  /** Returns the keys of each provider that has some, by its name. */
  of(providers: readonly TokenProvider[]): ReadonlyMap<string, readonly string[]> {
    if (Math.abs(this.#now() - this.#at) > MOST_AGE_MS) return new Map();
    return new Map(
      providers.flatMap(provider => {
        const keys = this.#keysOf(provider);
        return keys.length === 0 ? [] : [[provider.name, keys] as const];
      }),
    );
  }

  /** ext-authz may still have earlier settings of a Filter. */
  #keysOf({ algorithms, filter, jwksURI }: TokenProvider): readonly string[] {
    const set = this.#sets.get(filter);
    if (set === undefined || set.jwksURI !== jwksURI) return [];
    return set.keys.filter(key => algorithms.includes(algorithmIn(key)));
  }
}

function algorithmIn(key: string): string {
  try {
    const { alg } = (JSON.parse(key) ?? {}) as { readonly alg?: unknown };
    return typeof alg === 'string' ? alg : '';
  } catch {
    return '';
  }
}
