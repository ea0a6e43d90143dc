import type { NamedCondition } from '#controlplane/gateway-api/condition.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';
import { isKubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { resourcePath } from '#kubernetes/resource.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';

/** Versions of the definitions of Gateway API, by plural. Undefined where one tells none. */
export type BundleVersions = ReadonlyMap<string, string | undefined>;

/** The definitions that are asked for, as the role of the control plane names them. */
export const DEFINITIONS: readonly string[] = [
  'backendtlspolicies',
  'gatewayclasses',
  'gateways',
  'grpcroutes',
  'httproutes',
  'listenersets',
  'referencegrants',
  'tcproutes',
  'tlsroutes',
  'udproutes',
];

const CRDS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
const ANNOTATION = `${GATEWAY_API_GROUP}/bundle-version`;
/** A whole definition has some hundred kB. See Kubernetes API concepts, "Metadata-only fetches". */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Time between two looks, in ms. */
const LOOK_AGAIN_MS = 15_000;

export type BundleVersionsParts = {
  readonly cluster: Cluster;
  after(ms: number, callback: () => void): () => void;
  /** Called when the versions have changed. */
  onChange(): void;
};

/** Reads the versions again and again, once it is asked to. What is known stays while it fails. */
export class BundleVersionsReader {
  readonly #parts: BundleVersionsParts;
  #versions: BundleVersions | undefined;
  #started = false;
  #closed = false;
  #cancel = () => {};

  constructor(parts: BundleVersionsParts) {
    this.#parts = parts;
  }

  /** Undefined until they were read, and while the API does not permit it. */
  get versions(): BundleVersions | undefined {
    return this.#versions;
  }

  start(): void {
    if (this.#started || this.#closed) return;
    this.#started = true;
    void this.#look();
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  async #look(): Promise<void> {
    const { cluster, after, onChange } = this.#parts;
    try {
      const read = await readVersions(cluster);
      if (this.#closed) return;
      const isSame =
        JSON.stringify([...(read ?? [])]) === JSON.stringify([...(this.#versions ?? [])]);
      this.#versions = read;
      if (!isSame) onChange();
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
    }
    if (!this.#closed) this.#cancel = after(LOOK_AGAIN_MS, () => void this.#look());
  }
}

/** @returns undefined when one of them may not be read */
async function readVersions(cluster: Cluster): Promise<BundleVersions | undefined> {
  const versions = new Map<string, string | undefined>();
  for (const plural of DEFINITIONS) {
    const path = resourcePath(CRDS, `${plural}.${GATEWAY_API_GROUP}`);
    const { status, body } = await cluster.call({ method: 'GET', path, accept: METADATA_ONLY });
    if (status === 404) continue;
    if (status === 401 || status === 403) return undefined;
    if (status !== 200 || !isKubernetesObject(body))
      throw new ClusterError(`no definition of ${plural}`, status);
    versions.set(plural, body.metadata.annotations?.[ANNOTATION]);
  }
  return versions;
}

/** Releases of which every kind is read in a version that it has. */
const SUPPORTED = /^v1\.[1-7]\.\d{1,9}$/;

const SUPPORTED_TEXT = 'v1.1 to v1.7 are supported';

/** So much of a version is shown. */
const LONGEST_VERSION = 40;

/**
 * Returns the condition `SupportedVersion` of a GatewayClass, as Gateway API defines it. Classes
 * stay accepted, since what is known of other versions is served.
 */
export function supportedVersion(versions: BundleVersions | undefined): readonly NamedCondition[] {
  if (versions === undefined || versions.size === 0) return [];
  const wrong = [...versions].filter(([, version = '']) => !SUPPORTED.test(version));
  const detected = [...Map.groupBy(versions, ([, version]) => version)].map(
    ([version = 'no version', definitions]) =>
      `${version.slice(0, LONGEST_VERSION)} (${definitions.map(([plural]) => plural).join(', ')})`,
  );
  const message = `The definitions have ${detected.join(' and ')}. Versions ${SUPPORTED_TEXT}`;
  return [
    wrong.length === 0
      ? { type: 'SupportedVersion', status: 'True', reason: 'SupportedVersion', message }
      : { type: 'SupportedVersion', status: 'False', reason: 'UnsupportedVersion', message },
  ];
}

/** Returns whether the status of a GatewayClass lists features. In v1.1 it takes texts for them. */
export function listsFeatures(versions: BundleVersions | undefined): boolean {
  return !/^v1\.1\./.test(versions?.get('gatewayclasses') ?? '');
}
