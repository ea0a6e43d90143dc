/** Compares texts by code unit: the same order on every machine and in every language setting. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
