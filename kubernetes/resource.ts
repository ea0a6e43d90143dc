/** A collection of the API: all objects of one kind, or those in one namespace. */
export type Resource = {
  /** '' is the core group, of Secrets and Services. */
  readonly group: string;
  readonly version: string;
  /** Lower case, for example `endpointslices`. */
  readonly plural: string;
  /** Absent: those of all namespaces, or the kind has none. */
  readonly namespace?: string | undefined;
};

/**
 * The path of a collection, or of one object in it and a part of that, such as `status`. Source:
 * Kubernetes API concepts, resource URIs.
 */
export function resourcePath(resource: Resource, name?: string, part?: string): string {
  const { group, version, plural, namespace } = resource;
  const root = group === '' ? ['api', version] : ['apis', group, version];
  const place = namespace === undefined ? [] : ['namespaces', namespace];
  const rest = [name, part].filter(each => each !== undefined);
  return `/${[...root, ...place, plural, ...rest].map(encodeURIComponent).join('/')}`;
}

/** As in messages to operators: `endpointslices.discovery.k8s.io in namespace "default"`. */
export function describeResource({ group, plural, namespace }: Resource): string {
  const kind = group === '' ? plural : `${plural}.${group}`;
  return namespace === undefined ? kind : `${kind} in namespace "${namespace}"`;
}
