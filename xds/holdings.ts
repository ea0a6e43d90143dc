import { ABSENT, type Held } from './refusals.ts';
import { NO_RESOURCES, type Resources } from './snapshot.ts';

/**
 * What a client holds as far as is known. This is all of some resources, which many clients share,
 * and what differs from them. So a client that holds what all others hold costs a few bytes.
 */
export class Holdings {
  #base: Resources = NO_RESOURCES;
  /** Undefined means anything, because a response was rejected. */
  readonly #apart = new Map<string, Held>();

  /** What the client holds but for `apart`. */
  get base(): Resources {
    return this.#base;
  }

  /** The names that are known apart from the base. */
  get apart(): readonly string[] {
    return [...this.#apart.keys()];
  }

  /** Whether the client holds all of the base, and nothing else. */
  get isShared(): boolean {
    return this.#apart.size === 0;
  }

  has(name: string): boolean {
    return this.#apart.has(name) || this.#base.has(name);
  }

  get(name: string): Held {
    return this.#apart.has(name) ? this.#apart.get(name) : this.#base.get(name)?.version;
  }

  set(name: string, held: Held): void {
    this.#apart.set(name, held);
  }

  /** Forgets a name. One that is in the base counts as absent. */
  delete(name: string): void {
    if (this.#base.has(name)) this.#apart.set(name, ABSENT);
    else this.#apart.delete(name);
  }

  /** The client holds all of `base`. Other names stay known where `keeps` says so. */
  rebase(base: Resources, keeps: (name: string, held: Held) => boolean): void {
    const kept = [...this.#apart].filter(([name, held]) => !base.has(name) && keeps(name, held));
    this.#base = base;
    this.#apart.clear();
    for (const [name, held] of kept) this.#apart.set(name, held);
  }

  /** Keeps what is known of these names alone, and no base. */
  keepOnly(names: Iterable<string>): void {
    const kept = [...names].flatMap(name =>
      this.has(name) ? [[name, this.get(name)] as const] : [],
    );
    this.#base = NO_RESOURCES;
    this.#apart.clear();
    for (const [name, held] of kept) this.#apart.set(name, held);
  }
}
