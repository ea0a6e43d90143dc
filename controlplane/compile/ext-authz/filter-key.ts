/** Returns the name of a Filter in references. */
export function filterKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
