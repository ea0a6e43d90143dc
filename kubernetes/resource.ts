/** A collection of the API: all objects of one kind, or those in one namespace. */
export type Resource = {
  /** '' is the core group, of Secrets and Services. */
  readonly group: string;
  readonly version: string;
  /** Lower case, for example `endpointslices`. */
  readonly plural: string;
  /** Absent for all namespaces, and for a kind without namespaces. */
  readonly namespace?: string | undefined;
};

/**
 * Returns the path of a collection, of one object in it, or of a part of that object, such as
 * `status`. See Kubernetes API concepts, resource URIs.
 */
export function resourcePath(resource: Resource, name?: string, part?: string): string {
  const { group, version, plural, namespace } = resource;
  const root = group === '' ? ['api', version] : ['apis', group, version];
  const place = namespace === undefined ? [] : ['namespaces', namespace];
  const rest = [name, part].filter(each => each !== undefined);
  return `/${[...root, ...place, plural, ...rest].map(encodeURIComponent).join('/')}`;
}

/**
 * Describes a resource for operators, such as `endpointslices.discovery.k8s.io in namespace
 * "default"`.
 */
export function describeResource({ group, plural, namespace }: Resource): string {
  const kind = group === '' ? plural : `${plural}.${group}`;
  return namespace === undefined ? kind : `${kind} in namespace "${namespace}"`;
}
