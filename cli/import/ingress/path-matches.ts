import { parsePathRegex, parsePrefix } from '#resources/match/path-match.ts';
import type { Fields } from '#resources/words/fields.ts';
import type { Remark } from '../remark.ts';
import { closed } from '../remark.ts';
import type { IngressPath } from './ingress.ts';
import { alternativesOf, pathExpression } from './path-expression.ts';

/** The Mappings that one path becomes, by the fields that match it. */
export type PathMatches = {
  readonly matches: readonly Fields[];
  readonly remarks: readonly Remark[];
};

/**
 * Returns what matches a path of an Ingress. A `Prefix` matches whole segments, so it takes two
 * Mappings. Where `regex` is set, ingress-nginx reads each path of the host as the beginning of an
 * expression, in any letter case, whatever its type
 * (https://kubernetes.github.io/ingress-nginx/user-guide/ingress-path-matching/).
 */
export function pathMatches(path: IngressPath, regex: boolean): PathMatches {
  return regex ? regexMatches(path) : plainMatches(path);
}

function plainMatches({ at, path, pathType }: IngressPath): PathMatches {
  if ('error' in parsePrefix(path)) return unreadable(path, at);
  if (pathType === 'Exact') return { matches: [exact(path)], remarks: [] };
  const whole = path.replace(/\/+$/, '');
  if (pathType === 'ImplementationSpecific' || whole === '')
    return { matches: [{ prefix: path }], remarks: [] };
  return { matches: [{ prefix: `${whole}/` }, exact(whole)], remarks: [] };
}

function exact(path: string): Fields {
  return { prefix: path, prefix_exact: true };
}

function regexMatches({ at, path }: IngressPath): PathMatches {
  const prefix = `(?i)${pathExpression(path)}`;
  if ('error' in parsePathRegex(prefix)) return unreadable(path, at);
  return { matches: [{ prefix, prefix_regex: true }], remarks: [] };
}

/** Closes all that a path may cover, which is all that begins like the readable part of it. */
function unreadable(path: string, at: IngressPath['at']): PathMatches {
  const prefix = literalStart(path);
  const message = `the path cannot be expressed here. All below ${prefix} is closed. Write a Mapping with \`prefix_regex\`, whose expressions are RE2`;
  return {
    matches: [{ prefix, precedence: UNREADABLE, ...(prefix === '/' ? {} : ANY_CASE) }],
    remarks: [closed([...at, 'path'], message)],
  };
}

const ANY_CASE = { case_sensitive: false };

/**
 * Returns what each path begins with that an expression may match. A quantifier may take away the
 * character before it, and further alternatives begin anywhere.
 */
function literalStart(path: string): string {
  const [literal = ''] = /^(?:\/[\w~/-]*(?![?*{]))?/.exec(path) ?? [];
  return literal.startsWith('/') && alternativesOf(path).length === 1 ? literal : '/';
}

/** Such a path stands before all others, since it may be any of those that it covers. */
export const UNREADABLE = 1_000_000;
