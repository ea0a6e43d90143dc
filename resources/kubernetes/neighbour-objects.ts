import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import { Collection, type CollectionOptions } from './collection.ts';

export type NeighbourOptions = Omit<
  CollectionOptions,
  'resource' | 'fieldSelector' | 'onStatus'
> & {
  /** Undefined means all namespaces. */
  readonly namespaces: readonly string[] | undefined;
};

const NAMESPACES = { group: '', version: 'v1', plural: 'namespaces' };
const SERVICES = { group: '', version: 'v1', plural: 'services' };

/** Follows what routes of Gateway API refer to, namespaces and Services, once it is asked to. */
export class NeighbourObjects {
  readonly #options: NeighbourOptions;
  #collections: readonly Collection[] = [];

  constructor(options: NeighbourOptions) {
    this.#options = options;
  }

  follow(): void {
    if (this.#collections.length > 0) return;
    const { namespaces } = this.#options;
    this.#collections =
      namespaces === undefined
        ? [this.#open({ resource: NAMESPACES }), this.#open({ resource: SERVICES })]
        : namespaces.flatMap(namespace => [
            // With a selector, a right to one name suffices.
            this.#open({ resource: NAMESPACES, fieldSelector: `metadata.name=${namespace}` }),
            this.#open({ resource: { ...SERVICES, namespace } }),
          ]);
  }

  /**
   * Returns those that were read. What the API refuses to give is not there.
   * @returns undefined until it has answered for all
   */
  files(): readonly ParsedFile[] | undefined {
    if (!this.#collections.every(({ answered }) => answered)) return undefined;
    return this.#collections.flatMap(({ objects = [] }) =>
      [...objects].map(({ parsed }) => parsed),
    );
  }

  troubles(): readonly string[] {
    return this.#collections.flatMap(({ trouble }) => trouble ?? []);
  }

  close(): void {
    for (const collection of this.#collections) collection.close();
  }

  #open(selection: Pick<CollectionOptions, 'resource' | 'fieldSelector'>): Collection {
    return new Collection({ ...this.#options, ...selection, onStatus: () => {} });
  }
}
