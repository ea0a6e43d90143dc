import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import type { Problem } from '#resources/problem.ts';
import type { CollectionOptions } from './collection.ts';
import { GroupObjects } from './group-objects.ts';
import { SecretObjects } from './secret-objects.ts';
import type { SecretName } from './secret-references.ts';
import type { ServedObject } from './served-object.ts';

export type KubernetesOptions = Omit<CollectionOptions, 'resource' | 'fieldSelector'> & {
  /** Undefined means all namespaces. */
  readonly namespaces: readonly string[] | undefined;
};

/** What the API says at one moment. */
export type KubernetesReading = {
  readonly objects: readonly ServedObject[];
  /** Objects that get no status: Secrets, and objects of kinds that are not served. */
  readonly others: readonly ParsedFile[];
  readonly problems: readonly Problem[];
};

/**
 * Reads resources from a Kubernetes API: the objects of the served kinds in all groups that are
 * read, and the wanted Secrets. While the API is away all stays as it was known, with a Problem.
 */
export class KubernetesSource {
  readonly #groups: readonly GroupObjects[];
  readonly #secrets: SecretObjects;

  constructor(options: KubernetesOptions) {
    this.#groups = options.parser.options.apiGroups.map(
      group => new GroupObjects({ ...options, group }),
    );
    this.#secrets = new SecretObjects(options);
  }

  /** @returns undefined until all objects were read */
  reading(): KubernetesReading | undefined {
    const objects = this.#groups.map(group => group.objects());
    if (objects.includes(undefined)) return undefined;
    return {
      objects: objects.flatMap(each => each ?? []),
      others: [
        ...this.#groups.flatMap(group => group.others().map(({ parsed }) => parsed)),
        ...this.#secrets.files(),
      ],
      problems: [...this.#undefined(), ...this.#unknown(), ...this.#troubles().map(troubleProblem)],
    };
  }

  /**
   * Follows exactly these Secrets.
   * @returns whether they differ from those before
   */
  want(secrets: ReadonlyMap<string, SecretName>): boolean {
    return this.#secrets.want(secrets);
  }

  /** Returns wanted Secrets that are still unknown, by `namespace/name`. */
  pendingSecrets(): readonly string[] {
    return this.#secrets.pending();
  }

  /**
   * Returns why something is not read.
   * @returns undefined when nothing is known to be wrong
   */
  trouble(): string | undefined {
    return this.#troubles()[0];
  }

  close(): void {
    for (const group of this.#groups) group.close();
    this.#secrets.close();
  }

  /** While the API is away all say the same. */
  #troubles(): readonly string[] {
    const all = [...this.#groups.flatMap(group => group.troubles()), ...this.#secrets.troubles()];
    return [...new Set(all)].sort();
  }

  #unknown(): readonly Problem[] {
    const unknown = [...new Set(this.#groups.flatMap(group => group.unknown()))];
    if (unknown.length === 0) return [];
    const message = `the cluster has kinds that the gateway does not know: ${unknown.join(', ')}. ${UNREAD}`;
    return [{ ...PLACE, severity: 'warning', message }];
  }

  /**
   * Checks only the first group. An operator without objects of the other groups needs no
   * definitions of them.
   */
  #undefined(): readonly Problem[] {
    const missing = this.#groups[0]?.missing() ?? [];
    if (missing.length === 0) return [];
    const message = `the cluster has no definition of ${missing.join(', ')}. Apply deploy/kubernetes/crds.yaml`;
    return [{ ...PLACE, severity: 'warning', message }];
  }
}

const UNREAD = 'Their objects are not read, so what they would restrict is not';

const PLACE = { kind: 'Kubernetes', namespace: '', name: '', file: '', line: 0 } as const;

function troubleProblem(message: string): Problem {
  return { ...PLACE, severity: 'error', message: `${message}. What is known stays in force` };
}
