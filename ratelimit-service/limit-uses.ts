import { type LimitUse, MOST_FACTS } from '#process/service-facts.ts';
import type { Label } from '#resources/labels/label-pattern.ts';
import type { Limit } from './limit.ts';
import { UNIT_MS } from './window.ts';

/** What a client sends in any other label may be a credential, such as a key for an API. */
const SHOWN: ReadonlySet<string> = new Set([
  ...['generic_key', 'remote_address', 'masked_remote_address'],
  ...['source_cluster', 'destination_cluster', 'method', 'path', 'host'],
]);

type Noted = LimitUse & { readonly windowMs: number };

/** Remembers the newest label groups that are near a limit or over it. */
export class LimitUses {
  readonly #noted = new Map<string, Noted>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  note({ domain, name: limit, unit }: Limit, labels: readonly Label[], over: boolean): void {
    let key = limit;
    for (const label of labels) key += `\0${label.key}\0${label.value}`;
    if (!this.#noted.delete(key) && this.#noted.size >= MOST_FACTS) {
      const [oldest] = this.#noted.keys();
      if (oldest !== undefined) this.#noted.delete(oldest);
    }
    const shown = labels.map(({ key, value }) => (SHOWN.has(key) ? { key, value } : { key }));
    this.#noted.set(key, {
      limit,
      domain,
      labels: shown,
      over,
      at: this.#now(),
      windowMs: UNIT_MS[unit],
    });
  }

  /** Returns those of windows that have not ended, the newest first. */
  list(): readonly LimitUse[] {
    const now = this.#now();
    const isNow = ({ at, windowMs }: Noted) =>
      Math.floor(at / windowMs) === Math.floor(now / windowMs);
    return [...this.#noted.values()]
      .filter(isNow)
      .reverse()
      .map(({ windowMs: _windowMs, ...use }) => use);
  }
}
