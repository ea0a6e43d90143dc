import type { Rejected, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

type Mapping = Resource<'Mapping'>;

/** Returns the resources with these Mappings closed. What they match is answered 500. */
export function closeMappings(resources: ResourceSet, closing: ReadonlySet<Mapping>): ResourceSet {
  if (closing.size === 0) return resources;
  return {
    ...resources,
    mappings: resources.mappings.filter(mapping => !closing.has(mapping)),
    closed: [...resources.closed, ...[...closing].map(closedMapping)],
  };
}

/**
 * Returns a Mapping as closed, on the Hosts that have it. One for copies of requests decides
 * nothing about them, so it is only left out.
 */
export function closedMapping(mapping: Mapping): Rejected {
  const { kind, namespace, name, id, source, spec, metadata } = mapping;
  const { labels } = metadata ?? {};
  return {
    ...{ kind, namespace, name, id, source },
    ...(spec.shadow ? {} : { match: spec }),
    ...(labels === undefined ? {} : { labels }),
  };
}
