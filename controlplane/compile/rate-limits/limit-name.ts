import type { Resource } from '#resources/resource.ts';

/**
 * The names of a RateLimit's limits; by default `<resource name>.<namespace>-<index in limits>`,
 * the index from 0.
 */
export function limitNames({ name, namespace, spec }: Resource<'RateLimit'>): readonly string[] {
  return spec.limits.map((limit, index) => limit.name ?? `${name}.${namespace}-${index}`);
}
