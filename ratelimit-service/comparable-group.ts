import { comparedHost } from '#resources/filter-policy-match.ts';
import type { Label } from '#resources/label-pattern.ts';
import type { LimitIndex } from './limits-index.ts';

/**
 * A label group as it is matched and counted: hosts in lower case and without port. A client would
 * have as many counters as there are ways to write the host.
 * Source: RFC 9110 section 4.2.3.
 */
export function comparableGroup(
  { hostKeys }: LimitIndex,
  domain: string,
  group: readonly Label[],
): readonly Label[] {
  const keys = hostKeys.get(domain);
  if (keys === undefined) return group;
  return group.map(({ key, value }) => ({ key, value: keys.has(key) ? comparedHost(value) : value }));
}
