/**
 * Returns the scope that grants ClientCredentials and Password ask for, sorted and without
 * duplicates. By default it is empty. See docs/reference/kinds/filter-policy.md.
 */
export function requestedScope(listed: readonly string[] | undefined): readonly string[] {
  return [...new Set(listed)].sort();
}

/**
 * Returns the values listed for a path that were not granted. `offline_access` may be absent. See
 * docs/reference/kinds/filter.md.
 */
export function missingScope(
  listed: readonly string[],
  granted: readonly string[],
): readonly string[] {
  return listed.filter(value => value !== 'offline_access' && !granted.includes(value));
}
