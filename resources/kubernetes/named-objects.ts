import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import { Collection, type CollectionOptions } from './collection.ts';
import type { SecretName } from './secret-references.ts';

export type NamedOptions = Omit<CollectionOptions, 'resource' | 'fieldSelector' | 'onStatus'> & {
  /** Undefined means all namespaces. */
  readonly namespaces: readonly string[] | undefined;
  readonly kind: 'Secret' | 'ConfigMap';
};

/** Follows objects of one kind, each by its name alone, and only while it is wanted. */
export class NamedObjects {
  readonly #options: NamedOptions;
  #followed: ReadonlyMap<string, Collection> = new Map();
  #elsewhere: readonly string[] = [];

  constructor(options: NamedOptions) {
    this.#options = options;
  }

  /**
   * Follows exactly these. Those in namespaces outside the configured ones are not read.
   * @returns whether the set differs from the one before
   */
  want(wanted: ReadonlyMap<string, SecretName>): boolean {
    const { namespaces } = this.#options;
    const ours = new Map(
      [...wanted].filter(
        ([, { namespace }]) => namespaces === undefined || namespaces.includes(namespace),
      ),
    );
    this.#elsewhere = [...wanted.keys()].filter(key => !ours.has(key)).sort();
    const before = this.#followed;
    const gone = [...before].filter(([key]) => !ours.has(key));
    for (const [, collection] of gone) collection.close();
    this.#followed = new Map(
      [...ours].map(([key, name]) => [key, before.get(key) ?? this.#follow(name)]),
    );
    return gone.length > 0 || this.#followed.size > before.size;
  }

  /**
   * Returns those that were not read, and that the API has not refused to give, as
   * `Secret namespace/name`.
   */
  pending(): readonly string[] {
    return [...this.#followed]
      .filter(([, { answered }]) => !answered)
      .map(([key]) => `${this.#options.kind} ${key}`);
  }

  files(): readonly ParsedFile[] {
    const keys = [...this.#followed.keys()].sort();
    return keys.flatMap(key =>
      [...(this.#followed.get(key)?.objects ?? [])].map(({ parsed }) => parsed),
    );
  }

  troubles(): readonly string[] {
    const elsewhere = this.#elsewhere.map(
      key =>
        `The ${this.#options.kind} ${key} is not read: RESOURCES_KUBERNETES does not name its namespace`,
    );
    const own = [...this.#followed.values()].flatMap(({ trouble }) => trouble ?? []);
    return [...elsewhere, ...own];
  }

  close(): void {
    for (const collection of this.#followed.values()) collection.close();
  }

  #follow({ namespace, name }: SecretName): Collection {
    const { kind, onContent } = this.#options;
    const plural = `${kind.toLowerCase()}s`;
    const resource = { group: '', version: 'v1', plural, namespace };
    // Only its metadata may differ, because it has no status.
    const options = { ...this.#options, onStatus: onContent };
    return new Collection({ ...options, resource, fieldSelector: `metadata.name=${name}` });
  }
}
