/** What every object of the API has. See the Kubernetes API, ObjectMeta. */
export type ObjectMeta = {
  readonly name: string;
  /** Absent when the object belongs to the whole cluster. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
};

/** An object as the API gives it. Beside its metadata its form is unknown. */
export type KubernetesObject = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
};

/** Returns `namespace/name`, or `name` when the object belongs to the whole cluster. */
export function objectKey({ metadata: { namespace, name } }: KubernetesObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether a value in an answer is an object with a name, or at least with a version as bookmarks
 * have it.
 */
export function hasMetadata(value: unknown): value is { metadata: { resourceVersion?: unknown } } {
  return isRecord(value) && isRecord(value.metadata);
}

export function isKubernetesObject(value: unknown): value is KubernetesObject {
  return hasMetadata(value) && 'name' in value.metadata && typeof value.metadata.name === 'string';
}
