import { isDeepStrictEqual } from 'node:util';
import { backOffMs } from '#kubernetes/back-off.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';
import { isKind } from '#resources/kinds/known-kinds.ts';
import { Collection, type CollectionOptions } from './collection.ts';
import { type DefinedKind, definedKinds } from './definitions.ts';
import type { ServedObject } from './served-object.ts';

export type GroupOptions = Omit<CollectionOptions, 'resource' | 'fieldSelector'> & {
  readonly group: string;
  /** Kinds that are looked for often until the API has them. */
  readonly kinds: readonly string[];
  /** Time between two looks for them, in ms. */
  readonly lookAgainMs?: number;
  /** Whether the group is left out, as a whole, while the API refuses to give one of its kinds. */
  readonly optional?: boolean;
  /** Undefined means all namespaces. */
  readonly namespaces: readonly string[] | undefined;
};

/** Time until a definition that was missing is found, in ms. */
const LOOK_AGAIN_MS = 2_000;

/** The same for kinds that the gateway does not serve, such as an AuthService, in ms. */
const LOOK_FOR_OTHERS_MS = 30_000;

/**
 * Follows the objects of all kinds in one group. Ambassador's kinds that are not served and may
 * restrict access are included. A kind that the API does not have yet has no objects, and is looked
 * for again.
 */
export class GroupObjects {
  readonly #options: GroupOptions;
  readonly #collections = new Map<string, readonly Collection[]>();
  #unknown: readonly string[] = [];
  /** Kinds that the API has. It had all that are followed. */
  #defined: ReadonlySet<string> = new Set();
  #asked = false;
  #trouble: string | undefined;
  #failures = 0;
  #closed = false;
  #cancel = () => {};

  constructor(options: GroupOptions) {
    this.#options = options;
    void this.#look();
  }

  /**
   * Returns the objects of the served kinds, in the order of kind, namespace and name.
   * @returns undefined until every kind was read completely
   */
  objects(): readonly ServedObject[] | undefined {
    if (!this.#asked) return undefined;
    if (this.#unread().length === 0) return this.#objectsOf(isKind);
    return this.refusal() === undefined ? undefined : [];
  }

  /**
   * Returns whether what was read of all kinds belongs together. It does in a namespace of which no
   * kind may be read any more, as when it was deleted, because it stays as it was.
   */
  isFollowed(): boolean {
    if (this.refusal() !== undefined) return true;
    const places = Map.groupBy(this.#existing(), ({ namespace }) => namespace);
    return [...places.values()].every(
      kinds =>
        kinds.every(({ isFollowed }) => isFollowed) ||
        kinds.every(({ isWithdrawn }) => isWithdrawn),
    );
  }

  /**
   * Returns why an optional group is left out.
   * @returns undefined when it is not
   */
  refusal(): string | undefined {
    const unread = this.#unread();
    const isRefused = this.#options.optional === true && unread.every(({ answered }) => answered);
    return isRefused ? unread.find(({ trouble }) => trouble !== undefined)?.trouble : undefined;
  }

  /** Returns objects of kinds that are not served. They get no status. */
  others(): readonly ServedObject[] {
    return this.#objectsOf(kind => !isKind(kind));
  }

  /** Returns kinds that the API has and the gateway does not know. */
  unknown(): readonly string[] {
    return this.#unknown;
  }

  /** Returns kinds that the API does not have. */
  missing(): readonly string[] {
    const { kinds } = this.#options;
    return this.#asked ? kinds.filter(kind => !this.#collections.has(kind)) : [];
  }

  /** Returns why something of it is not followed, unless it is left out. */
  troubles(): readonly string[] {
    if (this.refusal() !== undefined) return [];
    return [this.#trouble, ...this.#all().map(({ trouble }) => trouble)].filter(
      text => text !== undefined,
    );
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    for (const collection of this.#all()) collection.close();
  }

  #all(): readonly Collection[] {
    return [...this.#collections.values()].flat();
  }

  /** A kind that the API has no more has no objects there that could be missed. */
  #existing(): readonly Collection[] {
    return [...this.#defined].flatMap(kind => this.#collections.get(kind) ?? []);
  }

  #unread(): readonly Collection[] {
    return this.#existing().filter(({ objects }) => objects === undefined);
  }

  #objectsOf(selects: (kind: string) => boolean): readonly ServedObject[] {
    const kinds = [...this.#collections.keys()].filter(selects).sort();
    const each = kinds.flatMap(kind => this.#collections.get(kind) ?? []);
    return each.flatMap(({ objects = [] }) => [...objects].sort(byName));
  }

  async #look(): Promise<void> {
    const { cluster, group, after, random, lookAgainMs = LOOK_AGAIN_MS } = this.#options;
    try {
      const { read, unknown } = await definedKinds(cluster, group);
      if (this.#closed) return;
      this.#failures = 0;
      this.#found(read, unknown);
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      if (this.#closed) return;
      this.#failures += 1;
      this.#setTrouble(error.message);
    }
    const soon = this.missing().length === 0 ? LOOK_FOR_OTHERS_MS : lookAgainMs;
    const ms = this.#failures === 0 ? soon : backOffMs(this.#failures, random());
    this.#cancel = after(ms, () => void this.#look());
  }

  #found(kinds: readonly DefinedKind[], unknown: readonly string[]): void {
    const added = kinds.filter(({ kind }) => !this.#collections.has(kind));
    for (const each of added) this.#collections.set(each.kind, this.#follow(each));
    const defined = new Set(kinds.map(({ kind }) => kind));
    this.#forgetUnread(defined);
    const isNew = !this.#asked || unknown.join() !== this.#unknown.join();
    const other = isNew || !isDeepStrictEqual(defined, this.#defined);
    this.#asked = true;
    this.#unknown = unknown;
    this.#defined = defined;
    if (other || this.#trouble !== undefined) this.#setTrouble(undefined);
  }

  /** Nothing is known of a kind that went before it was read. */
  #forgetUnread(defined: ReadonlySet<string>): void {
    for (const [kind, collections] of this.#collections) {
      if (defined.has(kind) || collections.some(({ objects }) => objects !== undefined)) continue;
      for (const collection of collections) collection.close();
      this.#collections.delete(kind);
    }
  }

  #follow({ plural, version, clusterWide = false }: DefinedKind): readonly Collection[] {
    const { group, namespaces = [undefined] } = this.#options;
    return (clusterWide ? [undefined] : namespaces).map(namespace => {
      const resource = { group, version, plural, namespace };
      return new Collection({ ...this.#options, resource });
    });
  }

  #setTrouble(trouble: string | undefined): void {
    this.#trouble = trouble;
    this.#options.onContent();
  }
}

function byName(a: ServedObject, b: ServedObject): number {
  const [first, second] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`];
  return first < second ? -1 : Number(first > second);
}
