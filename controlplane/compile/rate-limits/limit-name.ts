import type { Resource } from '#resources/resource.ts';

/**
 * Returns the names of a RateLimit's limits. The default is `<resource name>.<namespace>-<index in
 * limits>`, with the index from 0.
 */
export function limitNames({ name, namespace, spec }: Resource<'RateLimit'>): readonly string[] {
  return spec.limits.map((limit, index) => limit.name ?? `${name}.${namespace}-${index}`);
}
