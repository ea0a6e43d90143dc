import type { Resource } from '#resources/resource.ts';

/** Returns where the operator wrote a limit. `index` is its place among those that count. */
export function limitField({ limitsAt }: Resource<'RateLimit'>, index: number): string {
  return `spec.limits[${limitsAt?.[index] ?? index}]`;
}
