import { parsePathRegex, parsePrefix } from '#resources/match/path-match.ts';
import type { Fields } from '#resources/words/fields.ts';
import type { Remark } from '../remark.ts';
import { changed, closed } from '../remark.ts';
import type { IngressPath } from './ingress.ts';

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
  const parsed = parsePathRegex(pathExpression(path));
  if ('error' in parsed) return unreadable(path, at);
  const remarks = hasOpenAlternative(path)
    ? [changed([...at, 'path'], 'every alternative now begins at the start of the path')]
    : [];
  return { matches: [{ prefix: pathExpression(path), prefix_regex: true }], remarks };
}

/** Returns an expression for whole paths that begin as this one says. */
function pathExpression(path: string): string {
  return `(?i)(?:${path.replace(/^\^/, '')}).*`;
}

/** Behind a `|` outside of parentheses, nginx looks in the middle of the path too. */
function hasOpenAlternative(expression: string): boolean {
  let depth = 0;
  for (const [token] of expression.matchAll(/\\.|\[(?:\\.|[^\]])*\]|[()|]/g)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (token === '|' && depth === 0) return true;
  }
  return false;
}

/** Closes what the path begins with, up to the first character that an expression may read. */
function unreadable(path: string, at: IngressPath['at']): PathMatches {
  const [literal = ''] = /^(?:\/[\w.~/-]*)?/.exec(path) ?? [];
  const prefix = literal.startsWith('/') ? literal : '/';
  const message = `the path cannot be expressed here. All below ${prefix} is closed. Write a Mapping with \`prefix_regex\`, whose expressions are RE2`;
  return {
    matches: [{ prefix, precedence: UNREADABLE }],
    remarks: [closed([...at, 'path'], message)],
  };
}

/** Such a path stands before all others, since it may be any of those that it covers. */
export const UNREADABLE = 1_000_000;
