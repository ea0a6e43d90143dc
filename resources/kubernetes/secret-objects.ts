import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import { Collection, type CollectionOptions } from './collection.ts';
import type { SecretName } from './secret-references.ts';

export type SecretsOptions = Omit<CollectionOptions, 'resource' | 'fieldSelector' | 'onStatus'> & {
  /** Undefined means all namespaces. */
  readonly namespaces: readonly string[] | undefined;
};

/** Follows Secrets, each by its name alone, and only while it is wanted. */
export class SecretObjects {
  readonly #options: SecretsOptions;
  #followed: ReadonlyMap<string, Collection> = new Map();
  #elsewhere: readonly string[] = [];

  constructor(options: SecretsOptions) {
    this.#options = options;
  }

  /**
   * Follows exactly these. Secrets in namespaces outside the configured ones are not read.
   * @returns whether the set differs from the one before
   */
  want(secrets: ReadonlyMap<string, SecretName>): boolean {
    const { namespaces } = this.#options;
    const ours = new Map(
      [...secrets].filter(
        ([, { namespace }]) => namespaces === undefined || namespaces.includes(namespace),
      ),
    );
    this.#elsewhere = [...secrets.keys()].filter(key => !ours.has(key)).sort();
    const before = this.#followed;
    const gone = [...before].filter(([key]) => !ours.has(key));
    for (const [, collection] of gone) collection.close();
    this.#followed = new Map(
      [...ours].map(([key, secret]) => [key, before.get(key) ?? this.#follow(secret)]),
    );
    return gone.length > 0 || this.#followed.size > before.size;
  }

  /**
   * Returns those that were not read, and that the API has not refused to give, by
   * `namespace/name`.
   */
  pending(): readonly string[] {
    return [...this.#followed].filter(([, { answered }]) => !answered).map(([key]) => key);
  }

  files(): readonly ParsedFile[] {
    const keys = [...this.#followed.keys()].sort();
    return keys.flatMap(key =>
      [...(this.#followed.get(key)?.objects ?? [])].map(({ parsed }) => parsed),
    );
  }

  troubles(): readonly string[] {
    const elsewhere = this.#elsewhere.map(
      key => `The Secret ${key} is not read: RESOURCES_KUBERNETES does not name its namespace`,
    );
    const own = [...this.#followed.values()].flatMap(({ trouble }) => trouble ?? []);
    return [...elsewhere, ...own];
  }

  close(): void {
    for (const collection of this.#followed.values()) collection.close();
  }

  #follow({ namespace, name }: SecretName): Collection {
    const resource = { group: '', version: 'v1', plural: 'secrets', namespace };
    const { onContent } = this.#options;
    // Only its metadata may differ, because a Secret has no status.
    const options = { ...this.#options, onStatus: onContent };
    return new Collection({ ...options, resource, fieldSelector: `metadata.name=${name}` });
  }
}
