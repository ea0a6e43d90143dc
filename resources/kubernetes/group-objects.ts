import { backOffMs } from '#kubernetes/back-off.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';
import { VERSION } from '#resources/envelope.ts';
import { Collection, type CollectionOptions } from './collection.ts';
import { definedKinds } from './definitions.ts';
import { kindNames, SERVED_KINDS, type ServedKind } from './served-kinds.ts';
import type { ServedObject } from './served-object.ts';

export type GroupOptions = Omit<CollectionOptions, 'resource' | 'fieldSelector'> & {
  readonly group: string;
  /** Undefined: all namespaces. */
  readonly namespaces: readonly string[] | undefined;
};

/** How long a definition that is missing may be there before it is found, in ms. */
const LOOK_AGAIN_MS = 2_000;

/** The objects of all our kinds in one group. A kind that the API does not have yet has no objects, and is looked for again. */
export class GroupObjects {
  readonly #options: GroupOptions;
  readonly #collections = new Map<ServedKind, readonly Collection[]>();
  #asked = false;
  #trouble: string | undefined;
  #failures = 0;
  #closed = false;
  #cancel = () => {};

  constructor(options: GroupOptions) {
    this.#options = options;
    void this.#look();
  }

  /** In the order of kind, namespace and name; undefined: not all have been read. */
  objects(): readonly ServedObject[] | undefined {
    const each = this.#each().map(collection => collection.objects);
    if (!this.#asked || each.includes(undefined)) return undefined;
    return each.flatMap(objects => [...(objects ?? [])].sort(byName));
  }

  /** Kinds that the API does not have. */
  missing(): readonly ServedKind[] {
    return this.#asked ? SERVED_KINDS.filter(kind => !this.#collections.has(kind)) : [];
  }

  troubles(): readonly string[] {
    return [this.#trouble, ...this.#each().map(({ trouble }) => trouble)].filter(text => text !== undefined);
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    for (const collection of this.#each()) collection.close();
  }

  #each(): readonly Collection[] {
    return SERVED_KINDS.flatMap(kind => this.#collections.get(kind) ?? []);
  }

  async #look(): Promise<void> {
    const { cluster, group, after, random } = this.#options;
    try {
      const kinds = await definedKinds(cluster, group);
      if (this.#closed) return;
      this.#failures = 0;
      this.#found(kinds);
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      if (this.#closed) return;
      this.#failures += 1;
      this.#setTrouble(error.message);
    }
    if (this.#failures === 0 && this.missing().length === 0) return;
    const ms = this.#failures === 0 ? LOOK_AGAIN_MS : backOffMs(this.#failures, random());
    this.#cancel = after(ms, () => void this.#look());
  }

  #found(kinds: ReadonlySet<ServedKind>): void {
    const added = [...kinds].filter(kind => !this.#collections.has(kind));
    for (const kind of added) this.#collections.set(kind, this.#follow(kind));
    const first = !this.#asked;
    this.#asked = true;
    if (first || added.length > 0 || this.#trouble !== undefined) this.#setTrouble(undefined);
  }

  #follow(kind: ServedKind): readonly Collection[] {
    const { group, namespaces = [undefined] } = this.#options;
    const { plural } = kindNames(kind);
    return namespaces.map(namespace => {
      const resource = { group, version: VERSION, plural, namespace };
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
