import { hash } from 'node:crypto';
import { cutText } from '#grpc/cut-text.ts';

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
  /** Why, in the proxy's words. */
  readonly #rejected = new Map<string, string>();

  /** Returns the providers whose keys no proxy has rejected. */
  without(keys: Keys): Keys {
    if (this.#rejected.size === 0) return keys;
    return new Map([...keys].filter(([, own]) => !this.#rejected.has(textOf(own))));
  }

  /** Returns why proxies rejected the keys of providers, by their names. */
  reasons(keys: Keys): ReadonlyMap<string, string> {
    if (this.#rejected.size === 0) return new Map();
    return new Map(
      [...keys].flatMap(([name, own]) => {
        const reason = this.#rejected.get(textOf(own));
        return reason === undefined ? [] : [[name, reason] as const];
      }),
    );
  }

  /**
   * Takes what a proxy says of the keys that it was sent. Where it names no provider of them, all
   * are taken for rejected.
   */
  reject(sent: Keys, message: string): void {
    const [, name = '', said = message] = PROVIDER.exec(message) ?? [];
    const own = sent.get(name);
    for (const keys of own === undefined ? sent.values() : [own])
      this.#remember(textOf(keys), cutText(own === undefined ? message : said, LONGEST));
  }

  #remember(text: string, reason: string): void {
    const [oldest] = this.#rejected.keys();
    if (this.#rejected.size >= MOST && oldest !== undefined) this.#rejected.delete(oldest);
    this.#rejected.set(text, reason);
  }
}

/** Envoy names the provider by a hash, which tells operators nothing. */
const PROVIDER = /^Provider '([^']+)' in jwt_authn config has (.*)$/s;
/** In characters. */
const LONGEST = 200;

function textOf(keys: readonly string[]): string {
  return hash('sha256', keys.join('\n'));
}
