import { hash } from 'node:crypto';

/** The keys of each provider, by its name. */
type Keys = ReadonlyMap<string, readonly string[]>;

/** Providers that publish new keys again and again must not fill the memory. */
const MOST = 1_000;

/**
 * The keys that proxies rejected. Envoy keeps the filter of before then, with keys that may have
 * been withdrawn. Each time it gets the same content again it takes that for news that this filter
 * still counts. So what was rejected must not be sent again.
 */
export class RejectedKeys {
  readonly #rejected = new Set<string>();

  /** Returns the providers whose keys no proxy has rejected. */
  without(keys: Keys): Keys {
    if (this.#rejected.size === 0) return keys;
    return new Map([...keys].filter(([, own]) => !this.#rejected.has(textOf(own))));
  }

  /**
   * Takes what a proxy says of the keys that it was sent. Where it names no provider of them, all
   * are taken for rejected.
   */
  reject(sent: Keys, message: string): void {
    const [, name = ''] = /^Provider '([^']+)'/.exec(message) ?? [];
    const own = sent.get(name);
    for (const keys of own === undefined ? sent.values() : [own]) this.#remember(textOf(keys));
  }

  #remember(text: string): void {
    const [oldest] = this.#rejected;
    if (this.#rejected.size >= MOST && oldest !== undefined) this.#rejected.delete(oldest);
    this.#rejected.add(text);
  }
}

function textOf(keys: readonly string[]): string {
  return hash('sha256', keys.join('\n'));
}
