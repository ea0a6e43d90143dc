import type { ResourceSet } from '#resources/resource-set.ts';

/** A resource of the operator, and where it is written. */
export type Place = { readonly resource: string; readonly file?: string; readonly line?: number };

/** Returns places by id, also those of rejected resources. */
export function placesOf(resources: ResourceSet): ReadonlyMap<string, Place> {
  const {
    closed,
    filterPolicies,
    filters,
    gateways,
    grpcRoutes,
    hosts,
    httpRoutes,
    listenerSets,
    logServices,
    mappings,
    proxyConfigs,
    rateLimits,
    rateLimitServices,
    tracingServices,
  } = resources;
  const all = [
    ...[...gateways, ...listenerSets, ...httpRoutes, ...grpcRoutes],
    ...[...mappings, ...proxyConfigs, ...rateLimits, ...rateLimitServices],
    ...[...filters, ...filterPolicies, ...hosts, ...logServices, ...tracingServices, ...closed],
  ];
  return new Map(
    all.map(({ kind, namespace, name, id, source }) => [
      id,
      { resource: `${kind} ${namespace}/${name}`, ...source },
    ]),
  );
}

/** Returns the place of an id. A name that is no id stands for itself. */
export function placeOf(places: ReadonlyMap<string, Place>, id: string): Place {
  return places.get(id) ?? { resource: id };
}

/** Formats a place for people: `Mapping default/user (a.yaml:1)`, perhaps with a field. */
export function placeText({ resource, file, line }: Place, field?: string): string {
  if (file === undefined) return resource;
  return `${resource} (${file}:${line}${field === undefined ? '' : `, ${field}`})`;
}
