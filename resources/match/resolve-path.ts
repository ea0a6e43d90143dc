/** Merges slashes and removes dot segments (RFC 3986 section 5.2.4). */
export function resolvePath(path: string): string {
  const resolved: string[] = [];
  const segments = path.split('/').slice(1);
  for (const segment of segments) {
    if (segment === '..') resolved.pop();
    else if (segment !== '' && segment !== '.') resolved.push(segment);
  }
  const open = resolved.length > 0 && ['', '.', '..'].includes(segments.at(-1) ?? '');
  return `/${resolved.join('/')}${open ? '/' : ''}`;
}
