/**
 * The forms of a request's path that upstreams may take it for; the first is the path as it came, without query. All must select the same rule.
 * `;…` may be cut from each segment, and an escaped slash may count as a slash: Envoy lets none in unless `escaped_slashes` is `keep`. What is
 * resolved is resolved again. Source: decisions, "Policy and chain".
 */
export function pathForms(target: string): readonly string[] {
  const path = withoutQuery(target);
  if (!/[;%\\]/.test(path)) return [path];
  const slashed = ESCAPED_SLASH.test(path) ? resolve(path.replace(ESCAPED_SLASHES, '/')) : path;
  return [...new Set([path, cut(path), slashed, cut(slashed)])];
}

/** Escaped too: some upstreams decode before they look. */
const PARAMETERS = /;|%3b/i;
const ALL_PARAMETERS = /(?:;|%3b)[^/]*/gi;
const ESCAPED_SLASH = /%2f|%5c|\\/i;
const ESCAPED_SLASHES = /%2f|%5c|\\/gi;

function withoutQuery(target: string): string {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
}

function cut(path: string): string {
  return PARAMETERS.test(path) ? resolve(path.replace(ALL_PARAMETERS, '')) : path;
}

/** Slashes merged and dot segments gone (RFC 3986 section 5.2.4), also those that are spelt `%2e`. */
function resolve(path: string): string {
  const resolved: string[] = [];
  const segments = path.replace(/%2e/gi, '.').split('/').slice(1);
  for (const segment of segments) {
    if (segment === '..') resolved.pop();
    else if (segment !== '' && segment !== '.') resolved.push(segment);
  }
  const open = resolved.length > 0 && ['', '.', '..'].includes(segments.at(-1) ?? '');
  return `/${resolved.join('/')}${open ? '/' : ''}`;
}
