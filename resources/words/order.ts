/**
 * Compares texts by code unit, which gives the same order on every machine and in every language
 * setting.
 */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Sorts items by their names. */
export function byName<T extends { readonly name: string }>(named: Iterable<T>): readonly T[] {
  return [...named].sort((a, b) => compareText(a.name, b.name));
}
