/** The scope that grants ClientCredentials and Password ask for: sorted, each value once; none by default. Source: document 1, argument `scope`. */
export function requestedScope(listed: readonly string[] | undefined): readonly string[] {
  return [...new Set(listed)].sort();
}

/** The values listed for a path that were not granted; `offline_access` may be absent. Source: document 1, rule 5. */
export function missingScope(listed: readonly string[], granted: readonly string[]): readonly string[] {
  return listed.filter(value => value !== 'offline_access' && !granted.includes(value));
}
