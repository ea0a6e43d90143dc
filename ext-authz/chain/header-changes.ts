import type { Change } from '#ext-authz/http/filter-decision.ts';
import type { HeaderFields } from '#ext-authz/http/http-request.ts';
import type { FilterType } from './filter-runner.ts';

/**
 * Which filter set a header, weakest first. An OAuth2 filter's access token in `Authorization`
 * yields to what a filter injects there on purpose. For one name OAuth2 wins over JWT, whatever the
 * order. See docs/adr/0011-ext-authz.md.
 */
const RANKS = { token: 0, jwt: 1, oauth2: 2 } as const;

type Setting = { readonly value: string; readonly rank: number };

type Added = {
  readonly change: Change;
  readonly type: FilterType;
  readonly injects: ReadonlySet<string>;
};

/** What the filters of a chain have done to the request so far. Names are in lower case. */
export class HeaderChanges {
  readonly #added: Added[] = [];
  /** How many of them are in the fields below. */
  #folded = 0;
  readonly #settings = new Map<string, Setting>();
  readonly #removed = new Set<string>();
  readonly #cookies = new Map<string, string>();
  readonly #responseHeaders: (readonly [name: string, value: string])[] = [];

  /** Adds what a filter does. `injects` are the names that it may set by `injectRequestHeaders`. */
  add(change: Change, type: FilterType, injects: ReadonlySet<string>): void {
    this.#added.push({ change, type, injects });
  }

  /** Returns what one filter did, when no other did anything. */
  get only(): Change | undefined {
    return this.#added.length === 1 ? this.#added[0]?.change : undefined;
  }

  /**
   * Runs only when the result is read. Mostly one filter has done something, and nothing reads it.
   */
  #fold(): void {
    for (const added of this.#added.slice(this.#folded)) this.#foldIn(added);
    this.#folded = this.#added.length;
  }

  #foldIn({ change: { cookies, set, remove, responseHeaders }, injects, type }: Added): void {
    for (const name of remove) {
      if (rankOf(name, type, injects) < (this.#settings.get(name)?.rank ?? 0)) continue;
      this.#settings.delete(name);
      this.#removed.add(name);
    }
    for (const [name, value] of set) {
      const rank = rankOf(name, type, injects);
      if (rank < (this.#settings.get(name)?.rank ?? 0)) continue;
      this.#settings.set(name, { value, rank });
      this.#removed.delete(name);
    }
    this.#responseHeaders.push(...responseHeaders);
    for (const [name, value] of cookies ?? []) this.#cookies.set(name, value);
  }

  /**
   * Returns the value that a filter gave this header.
   * @returns undefined when no filter set it
   */
  get(name: string): string | undefined {
    this.#fold();
    return this.#settings.get(name)?.value;
  }

  /** Returns the fields that the next filter sees. */
  seenOn(fields: HeaderFields): HeaderFields {
    this.#fold();
    const seen = new Map(fields);
    for (const name of this.#removed) seen.delete(name);
    for (const [name, { value }] of this.#settings) seen.set(name, [value]);
    return seen;
  }

  all(): Change {
    this.#fold();
    const set = new Map([...this.#settings].map(([name, { value }]) => [name, value] as const));
    return {
      ...{ set, remove: this.#removed, responseHeaders: this.#responseHeaders },
      ...(this.#cookies.size > 0 && { cookies: this.#cookies }),
    };
  }
}

function rankOf(name: string, type: FilterType, injects: ReadonlySet<string>): number {
  if (type === 'JWT') return RANKS.jwt;
  return name === 'authorization' && !injects.has(name) ? RANKS.token : RANKS.oauth2;
}
