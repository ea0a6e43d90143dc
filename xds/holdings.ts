import { namesLike } from './all-names.ts';
import type { Brought } from './brought.ts';
import { ABSENT, type Held } from './refusals.ts';
import { NO_RESOURCES, type Resources } from './snapshot.ts';

/**
 * What a client holds as far as is known. This is all of some resources, which many clients share,
 * and what differs from them. So a client that holds what all others hold costs a few bytes.
 */
export class Holdings {
  #base: Resources = NO_RESOURCES;
  #apart = new Map<string, Held>();
  /** What the client brought, which was not compared with anything yet. */
  #brought: Brought | undefined;

  /** The client holds what it brought from an earlier stream, and nothing else. */
  bring(brought: Brought): void {
    if (brought.size > 0) this.#brought = brought;
  }

  /**
   * Compares what the client brought with resources that others hold. Call it before all else, with
   * what is served now. Then a client that holds nearly the same costs little.
   */
  compare(resources: Resources): void {
    const brought = this.#brought;
    if (brought === undefined) return;
    this.#brought = undefined;
    const { common, apart } = brought.against(resources);
    const isAlike = common > apart.size;
    this.#base = isAlike ? resources : NO_RESOURCES;
    this.#apart = new Map(isAlike ? apart : brought.versions());
  }

  /** What the client holds but for `apart`. */
  get base(): Resources {
    this.compare(NO_RESOURCES);
    return this.#base;
  }

  /** The names that are known apart from the base. */
  get apart(): readonly string[] {
    return [...this.#others.keys()];
  }

  /** Whether the client holds all of the base, and nothing else. */
  get isShared(): boolean {
    return this.#others.size === 0;
  }

  /**
   * How many names it keeps for this client alone. What the client brought counts by its bytes
   * until it is compared.
   */
  get size(): number {
    return this.#brought === undefined ? this.#apart.size : namesLike(this.#brought.keptBytes);
  }

  has(name: string): boolean {
    return this.#others.has(name) || this.#base.has(name);
  }

  get(name: string): Held {
    return this.#others.has(name) ? this.#others.get(name) : this.#base.get(name)?.version;
  }

  set(name: string, held: Held): void {
    this.#others.set(name, held);
  }

  /** Forgets a name. One that is in the base counts as absent. */
  delete(name: string): void {
    const others = this.#others;
    if (this.#base.has(name)) others.set(name, ABSENT);
    else others.delete(name);
  }

  /** The client holds all of `base`. Other names stay known where `keeps` says so. */
  rebase(base: Resources, keeps: (name: string, held: Held) => boolean): void {
    const kept = [...this.#others].filter(([name, held]) => !base.has(name) && keeps(name, held));
    this.#base = base;
    this.#apart = new Map(kept);
  }

  /** Keeps what is known of these names alone, and no base. */
  keepOnly(names: Iterable<string>): void {
    const kept = [...names].flatMap(name =>
      this.has(name) ? [[name, this.get(name)] as const] : [],
    );
    this.#base = NO_RESOURCES;
    this.#apart = new Map(kept);
  }

  /** What differs from the base. Undefined means anything, because a response was rejected. */
  get #others(): Map<string, Held> {
    this.compare(NO_RESOURCES);
    return this.#apart;
  }
}
