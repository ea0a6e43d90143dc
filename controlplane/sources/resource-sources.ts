import { withoutForeign } from '#controlplane/gateway-api/foreign-gateways.ts';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import type { Written } from '#controlplane/rollout/candidates.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { Timers } from '#process/timers.ts';
import {
  type KubernetesReading,
  KubernetesSource,
  type WantedObjects,
} from '#resources/kubernetes/kubernetes-source.ts';
import {
  configMapReferences,
  type SecretName,
  secretReferences,
  trustBundleReferences,
} from '#resources/kubernetes/secret-references.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { collect } from '#resources/parse/collect.ts';
import type { Parser } from '#resources/parse/parse.ts';
import type { Problem } from '#resources/problem.ts';
import { type Resource, resourceId } from '#resources/resource.ts';
import { type FoldersReading, watchResourceFolders } from './resource-folders.ts';
import type { SecretPlacesOptions } from './secret-places.ts';

export type Reading = {
  readonly written: Written;
  readonly problems: readonly Problem[];
  /** The objects of Kubernetes among what is written, of our own kinds. */
  readonly objects: readonly ServedObject[];
  /** The same of Gateway API. */
  readonly gatewayApi: readonly ServedObject[];
};

export type SourcesOptions = {
  readonly folders: readonly string[];
  /** Files are named relative to it. */
  readonly from: string;
  readonly parser: Parser;
  /** Which values the Secrets in folders may take from elsewhere. */
  readonly secrets?: SecretPlacesOptions;
  readonly kubernetes?:
    | { readonly cluster: Cluster; readonly namespaces: readonly string[] | undefined }
    | undefined;
  /**
   * The `controllerName` of our GatewayClasses. What Gateways of other classes name is not read.
   * Default: the one that is built in.
   */
  readonly controller?: string;
  /** Returns what is in force, beside what is written. Its Secrets are read, too. */
  inForce(): Iterable<Resource>;
  onChange(reading: Reading): void;
  /** Called with the reason why nothing has been read yet, at each change, until all is read. */
  onTrouble?(reason: string): void;
  /** Called with the cause when the thread that parses large input has ended unexpectedly. */
  onThreadEnd?(cause: unknown): void;
  /** Called when only the statuses of Kubernetes objects have changed. */
  onStatus?(): void;
  after(ms: number, callback: () => void): () => void;
  random(): number;
};

export type Sources = {
  /**
   * Returns why the first reading is not complete.
   * @returns undefined once it is
   */
  waiting(): string | undefined;
  /** Returns the objects of Kubernetes, ours and those of Gateway API, as they are now. */
  objects(): readonly ServedObject[];
  close(): void;
};

const NOTHING: KubernetesReading = { objects: [], gatewayApi: [], others: [], problems: [] };

/** Changes in Kubernetes are read after this quiet time, in ms… */
const QUIET_MS = 20;
/** …and after this time at the latest. */
const LONGEST_MS = 200;
/**
 * A resource that names an unknown Secret waits for it for this time, in ms. At the start, all wait
 * without it.
 */
const SECRET_MS = 2_000;
/** Secrets that were in force are read for this much longer, in ms. */
const REVIEW_MS = 2_000;

/**
 * Follows folders and Kubernetes as one source of resources. Of two documents for one resource the
 * folder's counts, and of two folders the earlier's. Calls `onChange` when everything has been
 * read, then at each change. With folders alone the first call comes before it returns, unless they
 * hold much.
 * @throws Error when a folder cannot be read at the start
 */
export function watchResources(options: SourcesOptions): Sources {
  const sources = new ResourceSources(options);
  sources.start();
  return sources;
}

class ResourceSources implements Sources {
  readonly #options: SourcesOptions;
  readonly #kubernetes: KubernetesSource | undefined;
  readonly #timers: Timers<'quiet' | 'longest' | 'secret' | 'review'>;
  #folders: FoldersReading | undefined;
  #watch: { close(): void } | undefined;
  #delivered = false;
  #told: string | undefined;
  /** Unknown Secrets whose wait has ended. */
  #givenUp: ReadonlySet<string> = new Set();

  constructor(options: SourcesOptions) {
    this.#options = options;
    this.#timers = new Timers(options.after);
    const { parser, kubernetes, after, random, onStatus = () => {} } = options;
    if (kubernetes === undefined) return;
    const onContent = () => this.#stir();
    this.#kubernetes = new KubernetesSource({
      ...kubernetes,
      parser,
      after,
      random,
      onContent,
      onStatus,
    });
  }

  start(): void {
    const { onThreadEnd = () => {}, ...options } = this.#options;
    try {
      this.#watch = watchResourceFolders({ ...options, onThreadEnd }, reading => {
        this.#folders = reading;
        this.#read();
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  waiting(): string | undefined {
    if (this.#delivered) return undefined;
    if (this.#folders === undefined || this.#kubernetes === undefined)
      return 'the resources in the folders are being parsed';
    const [wanted] = this.#kubernetes.pending();
    const pending = wanted === undefined ? 'all resources' : `the ${wanted}`;
    return this.#kubernetes.trouble() ?? `the Kubernetes API has not sent ${pending} yet`;
  }

  objects(): readonly ServedObject[] {
    return this.#kubernetes?.objects() ?? [];
  }

  close(): void {
    this.#watch?.close();
    this.#kubernetes?.close();
    this.#timers.cancelAll();
  }

  /** Schedules a reading for when Kubernetes is quiet. */
  #stir(): void {
    this.#timers.cancel('quiet');
    this.#timers.start('quiet', QUIET_MS, () => this.#read());
    this.#timers.start('longest', LONGEST_MS, () => this.#read());
  }

  #read(): void {
    this.#timers.cancel('quiet', 'longest');
    this.#tellTrouble();
    const reading = this.#kubernetes === undefined ? NOTHING : this.#kubernetes.reading();
    if (this.#folders === undefined || reading === undefined) return;
    this.#kubernetes?.want(this.#wanted(this.#folders, reading));
    if (this.#waitsForSecret()) return;
    this.#timers.cancel('secret');
    this.#deliver(this.#folders, this.#kubernetes?.reading() ?? NOTHING);
  }

  /** Once all is read, each fault is a Problem. */
  #tellTrouble(): void {
    const reason = this.#delivered ? undefined : this.#kubernetes?.trouble();
    if (reason === undefined || reason === this.#told) return;
    this.#told = reason;
    this.#options.onTrouble?.(reason);
  }

  #wanted(folders: FoldersReading, { objects, gatewayApi }: KubernetesReading): WantedObjects {
    const read = [...objects, ...gatewayApi].map(({ parsed }) => parsed);
    const { resources } = collect([...folders.files, ...read]);
    const { controller = DEFAULT_CONTROLLER } = this.#options;
    const all = withoutForeign([...resources.values(), ...this.#options.inForce()], controller);
    const beyond = (kind: string, names: ReadonlyMap<string, SecretName>) =>
      new Map([...names].filter(([key]) => !resources.has(`${kind}/${key}`)));
    return {
      secrets: beyond('Secret', secretReferences(all)),
      configMaps: beyond('ConfigMap', configMapReferences(all)),
      trustBundles: new Set(
        [...trustBundleReferences(all)].filter(
          name => !resources.has(resourceId('ClusterTrustBundle', '', name)),
        ),
      ),
    };
  }

  #waitsForSecret(): boolean {
    const pending = this.#kubernetes?.pending() ?? [];
    if (pending.every(key => this.#givenUp.has(key))) return false;
    // At the start nothing is in force that could go on meanwhile.
    if (!this.#delivered) return true;
    this.#timers.start('secret', SECRET_MS, () => {
      this.#givenUp = new Set(this.#kubernetes?.pending());
      this.#read();
    });
    return true;
  }

  #deliver(folders: FoldersReading, reading: KubernetesReading): void {
    const { objects, gatewayApi, others, problems } = reading;
    this.#delivered = true;
    const parsed = [...objects, ...gatewayApi].map(object => object.parsed);
    const { problems: found, ...written } = collect([...folders.files, ...parsed, ...others]);
    this.#options.onChange({
      written,
      problems: [...folders.problems, ...problems, ...found],
      objects,
      gatewayApi,
    });
    if (this.#kubernetes === undefined) return;
    this.#timers.cancel('review');
    this.#timers.start('review', REVIEW_MS, () => this.#review(folders, reading));
  }

  /** Forgets Secrets that nothing in force names any more. */
  #review(folders: FoldersReading, reading: KubernetesReading): void {
    if (this.#kubernetes?.want(this.#wanted(folders, reading)) === true) this.#read();
  }
}
