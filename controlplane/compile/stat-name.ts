/**
 * Returns a name as it stands in Envoy's statistics. Envoy ends the value of a label at a dot. To
 * find a longer value, it would need an expression of ours for each statistic, which costs it more
 * than all else of a new cluster or route [measured]. It writes `_` for a colon itself.
 */
export function statName(name: string): string {
  return name.replaceAll(/[.:]/g, '_');
}
