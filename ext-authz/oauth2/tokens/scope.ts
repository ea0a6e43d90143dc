/**
 * The scope that grants ClientCredentials and Password ask for: sorted, each value once; none by
 * default. Source: docs/reference/kinds/filter-policy.md.
 */
export function requestedScope(listed: readonly string[] | undefined): readonly string[] {
  return [...new Set(listed)].sort();
}

/**
 * The values listed for a path that were not granted; `offline_access` may be absent. Source:
 * docs/reference/kinds/filter.md.
 */
export function missingScope(
  listed: readonly string[],
  granted: readonly string[],
): readonly string[] {
  return listed.filter(value => value !== 'offline_access' && !granted.includes(value));
}
