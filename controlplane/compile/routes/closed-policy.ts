import type { JsonObject } from '#protos/json.ts';
import { matchGlob, parseGlob } from '#resources/match/glob.ts';
import type { ReadableRule, Rejected } from '#resources/resource.ts';
import { hostMatches } from '../authority-match.ts';
import { writtenDomain } from '../mapping-domain.ts';
import { quoteRegex } from '../quote-regex.ts';
import { closed } from './closed-route.ts';

/**
 * Whether requests with an escaped slash come in (`escaped_slashes: keep`). A policy decodes them
 * before it matches. A route cannot, so a closed policy closes them all.
 */
export type EscapedSlashes = 'reject' | 'keep';

/**
 * Returns the routes that a rejected FilterPolicy needs in the virtual host of this domain. What
 * its rules cover is answered 500, before any other route. A host or path that could not be read
 * covers every one.
 */
export function closedPolicyRoutes(
  { id, rules = [{}] }: Rejected,
  domain: string,
  escapedSlashes: EscapedSlashes,
): readonly JsonObject[] {
  return rules
    .filter(({ host = '*' }) => mayCover(host, domain))
    .flatMap(rule =>
      pathMatches(rule, escapedSlashes).map(match => ({ ...match, ...hostMatch(rule, domain) })),
    )
    .map(match => closed(id, match));
}

/** In a wildcard domain the request's own host decides. */
function mayCover(host: string, domain: string): boolean {
  return domain.startsWith('*') || matchGlob(parseGlob(plainHost(host)), writtenDomain(domain));
}

function hostMatch({ host = '*' }: ReadableRule, domain: string): JsonObject {
  if (!domain.startsWith('*') || isAny(host)) return {};
  return { headers: [hostMatches(hostRegex(host))] };
}

function hostRegex(glob: string): string {
  return globRegex(plainHost(glob));
}

function plainHost(glob: string): string {
  return glob.toLowerCase().replace(/\.$/, '');
}

function pathMatches(
  { path = '*' }: ReadableRule,
  escapedSlashes: EscapedSlashes,
): readonly JsonObject[] {
  if (isAny(path)) return [{ prefix: '/' }];
  const regexes = [
    pathRegex(path),
    DOT_SEGMENT,
    ...(escapedSlashes === 'keep' ? [ESCAPED_SLASH] : []),
  ];
  return regexes.map(regex => ({ safe_regex: { regex } }));
}

/** Escaped ones too, since some upstreams decode before they split. */
const PARAMETERS = '(?:;|%3[Bb])[^/]*';

/**
 * `..;x`, which Envoy keeps of `%2e%2e;x` and some upstreams take for `..`. It may lead to any
 * path.
 */
const DOT_SEGMENT = '.*/\\.\\.?(?:;|%3[Bb]).*';

const ESCAPED_SLASH = '.*%(?:2[Ff]|5[Cc]).*';

/**
 * Returns an expression that path parameters (`;…` at the end of a segment, or all of it) cannot
 * avoid.
 */
function pathRegex(glob: string): string {
  return glob
    .split(/\*+/)
    .map(text => text.replace(/%[0-9A-F]{2}|[^\w/~-]/g, spellings))
    .join('.*')
    .replaceAll('/', `(?:${PARAMETERS})?/(?:${PARAMETERS}/)*`)
    .concat(`(?:${PARAMETERS})?`);
}

/** Returns what Envoy leaves of the spellings that `canonicalPath` makes one. */
function spellings(spelt: string): string {
  if (spelt === '.') return quoteRegex(spelt);
  const triplet = spelt.length === 3 ? spelt : `%${spelt.charCodeAt(0).toString(16).toUpperCase()}`;
  const triplets = triplet.replace(/[A-F]/g, digit => `[${digit}${digit.toLowerCase()}]`);
  const plain = triplet === spelt ? UNESCAPED.get(triplet) : quoteRegex(spelt);
  return plain === undefined ? triplets : `(?:${plain}|${triplets})`;
}

/** Envoy escapes neither. */
const UNESCAPED: ReadonlyMap<string, string> = new Map([
  ['%25', '%'],
  ['%2A', '\\*'],
]);

function globRegex(glob: string): string {
  return glob.split(/\*+/).map(quoteRegex).join('.*');
}

function isAny(glob: string): boolean {
  return /^\*+$/.test(glob);
}
