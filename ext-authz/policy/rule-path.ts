import { canonicalPath, ONE_READING } from '#resources/match/canonical-path.ts';
import { resolvePath } from '#resources/match/resolve-path.ts';

/**
 * Returns the forms in which upstreams may read a request's path. The first is its canonical
 * spelling, without query. All must select the same rule. `;…` may be cut from each segment. An
 * escaped slash may count as a slash, which Envoy only lets in when `escaped_slashes` is `keep`.
 * What is resolved is resolved again. See docs/adr/0011-ext-authz.md.
 */
export function pathForms(target: string): readonly string[] {
  const came = withoutQuery(target);
  if (PLAIN.test(came)) return [came];
  const path = canonicalPath(came);
  const slashed =
    path.search(ESCAPED_SLASH) === -1 ? path : resolvePath(path.replace(ESCAPED_SLASH, '/'));
  return [...new Set([path, cut(path), slashed, cut(slashed)])];
}

/**
 * A canonical path that is read in one way. The edge may ask nobody about it, by the same class.
 */
const PLAIN = new RegExp(`^${ONE_READING}*$`);
const PARAMETERS = /;[^/]*/g;
const ESCAPED_SLASH = /%2F|%5C/g;

function withoutQuery(target: string): string {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
}

function cut(path: string): string {
  return path.includes(';') ? resolvePath(path.replace(PARAMETERS, '')) : path;
}
