/**
 * Returns the name of a limit that has none of its own: `<resource name>.<namespace>-<index in
 * limits>`, with the index from 0.
 */
export function defaultLimitName(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  index: number,
): string {
  return `${name}.${namespace}-${index}`;
}
