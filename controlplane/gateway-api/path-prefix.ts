/** Returns a path of type `PathPrefix` without a slash at its end. Source: that type's comment. */
export function prefixOf(path: string): string {
  return path.replace(/\/+$/, '');
}
