import { GATEWAY_API_GROUP, GATEWAY_API_VERSIONS } from '#resources/kinds/known-kinds.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import type { Problem } from '#resources/problem.ts';
import type { CollectionOptions } from './collection.ts';
import { GroupObjects } from './group-objects.ts';
import { NamedObjects } from './named-objects.ts';
import { NeighbourObjects } from './neighbour-objects.ts';
import type { SecretName } from './secret-references.ts';
import { SERVED_KINDS } from './served-kinds.ts';
import type { ServedObject } from './served-object.ts';
import { TrustBundles } from './trust-bundles.ts';

export type KubernetesOptions = Omit<CollectionOptions, 'resource' | 'fieldSelector'> & {
  /** Undefined means all namespaces. */
  readonly namespaces: readonly string[] | undefined;
};

/** What was read of all kinds while nothing of them was missed. */
type Whole = Pick<KubernetesReading, 'objects' | 'gatewayApi' | 'others'>;

/** What the API says at one moment. */
export type KubernetesReading = {
  /** Objects of our own kinds. */
  readonly objects: readonly ServedObject[];
  /** Objects of Gateway API. */
  readonly gatewayApi: readonly ServedObject[];
  /** Objects that get no status, as Secrets and Services, and objects that are not served. */
  readonly others: readonly ParsedFile[];
  readonly problems: readonly Problem[];
};

export type WantedObjects = {
  readonly secrets: ReadonlyMap<string, SecretName>;
  readonly configMaps: ReadonlyMap<string, SecretName>;
  /** Names of ClusterTrustBundles. */
  readonly trustBundles: ReadonlySet<string>;
};

/** Time between two looks for definitions of Gateway API, in ms. Most clusters do without. */
const LOOK_FOR_GATEWAY_API_MS = 5_000;

/**
 * Reads resources from a Kubernetes API: the objects of the served kinds in all groups that are
 * read and in Gateway API, what the latter refer to, and the wanted Secrets and ConfigMaps. While
 * the API is away all stays as it was known, with a Problem.
 */
export class KubernetesSource {
  readonly #groups: readonly GroupObjects[];
  readonly #gatewayApi: GroupObjects;
  readonly #neighbours: NeighbourObjects;
  readonly #secrets: NamedObjects;
  readonly #configMaps: NamedObjects;
  readonly #trustBundles: TrustBundles;
  #whole: Whole | undefined;

  constructor(options: KubernetesOptions) {
    this.#groups = options.parser.options.apiGroups.map(
      group => new GroupObjects({ ...options, group, kinds: SERVED_KINDS }),
    );
    this.#gatewayApi = new GroupObjects({
      ...options,
      group: GATEWAY_API_GROUP,
      kinds: Object.keys(GATEWAY_API_VERSIONS),
      lookAgainMs: LOOK_FOR_GATEWAY_API_MS,
      optional: true,
    });
    this.#neighbours = new NeighbourObjects(options);
    this.#secrets = new NamedObjects({ ...options, kind: 'Secret' });
    this.#configMaps = new NamedObjects({ ...options, kind: 'ConfigMap' });
    this.#trustBundles = new TrustBundles(options);
  }

  /**
   * While one kind is not followed, the objects of all kinds stay as they were. A policy that is
   * missed may be for a route that is not.
   * @returns undefined until all objects were read
   */
  reading(): KubernetesReading | undefined {
    if (this.#whole === undefined || this.#isFollowed()) this.#whole = this.#read() ?? this.#whole;
    if (this.#whole === undefined) return undefined;
    const { objects, gatewayApi, others } = this.#whole;
    return {
      objects,
      gatewayApi,
      others: [
        ...others,
        ...this.#secrets.files(),
        ...this.#configMaps.files(),
        ...this.#trustBundles.files(),
      ],
      problems: [
        ...this.#undefined(),
        ...this.#unknown(),
        ...this.#refused(),
        ...this.#troubles().map(troubleProblem),
        ...this.#waiting(),
      ],
    };
  }

  /** Returns the objects of our own kinds and of Gateway API as they are now. */
  objects(): readonly ServedObject[] {
    return [...this.#groups, this.#gatewayApi].flatMap(group => group.objects() ?? []);
  }

  /**
   * Follows exactly these.
   * @returns whether they differ from those before
   */
  want({ secrets, configMaps, trustBundles }: WantedObjects): boolean {
    const changed = [
      this.#secrets.want(secrets),
      this.#configMaps.want(configMaps),
      this.#trustBundles.want(trustBundles),
    ];
    return changed.includes(true);
  }

  /** Returns wanted objects that are still unknown, as `Secret namespace/name`. */
  pending(): readonly string[] {
    return [this.#secrets, this.#configMaps, this.#trustBundles].flatMap(each => each.pending());
  }

  /**
   * Returns why something is not read.
   * @returns undefined when nothing is known to be wrong
   */
  trouble(): string | undefined {
    return this.#troubles()[0];
  }

  close(): void {
    for (const each of this.#all()) each.close();
  }

  /** @returns undefined while a kind was never read */
  #read(): Whole | undefined {
    const objects = this.#groups.map(group => group.objects());
    const gatewayApi = this.#gatewayApi.objects();
    if (objects.includes(undefined) || gatewayApi === undefined) return undefined;
    if (gatewayApi.length > 0) this.#neighbours.follow();
    const neighbours = this.#neighbours.files();
    if (neighbours === undefined) return undefined;
    const unserved = this.#groups.flatMap(group => group.others().map(({ parsed }) => parsed));
    return {
      objects: objects.flatMap(each => each ?? []),
      gatewayApi,
      others: [...unserved, ...neighbours],
    };
  }

  #isFollowed(): boolean {
    if (this.#lateRefusal() !== undefined) return false;
    return [...this.#groups, this.#gatewayApi].every(group => group.isFollowed());
  }

  /** A kind that is added later does not leave out what Gateways serve already. */
  #lateRefusal(): string | undefined {
    return this.#whole?.gatewayApi.length ? this.#gatewayApi.refusal() : undefined;
  }

  /** While the API is away all say the same. */
  #troubles(): readonly string[] {
    const troubles = this.#all().flatMap(each => each.troubles());
    return [...new Set(troubles.concat(this.#lateRefusal() ?? []))].sort();
  }

  #all(): readonly { troubles(): readonly string[]; close(): void }[] {
    const gatewayApi = [this.#gatewayApi, this.#neighbours, this.#trustBundles];
    return [...this.#groups, ...gatewayApi, this.#secrets, this.#configMaps];
  }

  /** A cluster may have Gateway API for others, so it is no error. */
  #refused(): readonly Problem[] {
    const served = this.#lateRefusal() !== undefined;
    const refusals = [
      ['Gateway API is not served', served ? undefined : this.#gatewayApi.refusal()],
      ['ClusterTrustBundles are not read', this.#trustBundles.refusal()],
    ] as const;
    return refusals.flatMap(([what, refusal]) => {
      if (refusal === undefined) return [];
      const message = `${what}. ${refusal}, as deploy/kubernetes/gateway-api does`;
      return [{ ...PLACE, severity: 'warning', message }];
    });
  }

  #waiting(): readonly Problem[] {
    if (this.#isFollowed() || this.#troubles().length === 0) return [];
    return [{ ...PLACE, severity: 'error', message: EDITS_WAIT }];
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

const EDITS_WAIT =
  'edits of resources wait until all kinds can be read. Policies may be among what is not read';

const PLACE = { kind: 'Kubernetes', namespace: '', name: '', file: '', line: 0 } as const;

function troubleProblem(message: string): Problem {
  return { ...PLACE, severity: 'error', message: `${message}. What is known stays in force` };
}
