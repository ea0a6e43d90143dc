import { CERTIFICATES_GROUP } from '#resources/kinds/known-kinds.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import { GroupObjects, type GroupOptions } from './group-objects.ts';

export type TrustBundlesOptions = Omit<GroupOptions, 'group' | 'kinds' | 'namespaces'>;

/** Time between two looks for the definition, in ms. Most clusters do without. */
const LOOK_AGAIN_MS = 5_000;

/**
 * Follows ClusterTrustBundles while any is wanted. Without a definition in the cluster there are
 * none, until it appears.
 */
export class TrustBundles {
  readonly #options: TrustBundlesOptions;
  #wanted: ReadonlySet<string> = new Set();
  #followed: GroupObjects | undefined;

  constructor(options: TrustBundlesOptions) {
    this.#options = options;
  }

  /**
   * Reads exactly those of these names.
   * @returns whether they differ from those before
   */
  want(names: ReadonlySet<string>): boolean {
    const before = this.#wanted;
    this.#wanted = names;
    if (names.size === 0) this.close();
    else
      this.#followed ??= new GroupObjects({
        ...this.#options,
        group: CERTIFICATES_GROUP,
        kinds: ['ClusterTrustBundle'],
        namespaces: undefined,
        lookAgainMs: LOOK_AGAIN_MS,
        optional: true,
      });
    return names.size !== before.size || [...names].some(name => !before.has(name));
  }

  /** Returns `ClusterTrustBundle name` of each while the API has answered for none. */
  pending(): readonly string[] {
    if (this.#followed === undefined || this.#followed.objects() !== undefined) return [];
    return [...this.#wanted].map(name => `ClusterTrustBundle ${name}`);
  }

  files(): readonly ParsedFile[] {
    const found = this.#followed?.objects() ?? [];
    return found.filter(({ name }) => this.#wanted.has(name)).map(({ parsed }) => parsed);
  }

  /**
   * Returns why they may not be read.
   * @returns undefined when they may
   */
  refusal(): string | undefined {
    return this.#followed?.refusal();
  }

  troubles(): readonly string[] {
    return this.#followed?.troubles() ?? [];
  }

  close(): void {
    this.#followed?.close();
    this.#followed = undefined;
  }
}
