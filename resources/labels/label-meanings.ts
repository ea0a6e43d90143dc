import { canonicalPath } from '#resources/match/canonical-path.ts';
import { comparedHost } from '#resources/match/filter-policy-match.ts';
import { resolvePath } from '#resources/match/resolve-path.ts';
import { addressNetwork, type PrefixLengths } from '#resources/words/address-network.ts';

/** What the labels of a domain hold, by their keys. */
export type LabelMeanings = {
  /** Keys of labels that hold the host of a request. */
  readonly hostKeys: Iterable<string>;
  /** Keys of labels that hold the path of a request without its query. */
  readonly pathKeys: Iterable<string>;
  /** The prefix lengths of `remote_address`. */
  readonly prefixes: PrefixLengths;
};

/**
 * Key of a label → the form in which its value is matched and counted. Other labels count as they
 * are.
 */
export type ComparableForms = ReadonlyMap<string, (value: string) => string>;

/** Without these forms a client would have a counter of its own for each spelling of one value. */
export function comparableForms({ hostKeys, pathKeys, prefixes }: LabelMeanings): ComparableForms {
  return new Map([
    ['remote_address', (address: string) => addressNetwork(address, prefixes)] as const,
    ...[...hostKeys].map(key => [key, comparedHost] as const),
    ...[...pathKeys].map(key => [key, comparablePath] as const),
  ]);
}

/**
 * Cuts query, parameters (RFC 3986 section 3.3) and the slash at the end, and ignores letter case,
 * and what is escaped without need. Most servers answer these alike. Envoy normalises dot segments,
 * repeated slashes and escaped letters. It lets escaped slashes in only with `keep`. What is cut
 * may leave `..` of `%2e%2e;x`, so the path is resolved again.
 */
function comparablePath(path: string): string {
  const [name = ''] = path.split(/[?#]/, 1);
  const slashed = canonicalPath(name.replace(PARAMETERS, '')).replace(ESCAPED_SLASH, '/');
  const resolved = slashed.startsWith('/') ? resolvePath(slashed) : slashed;
  const plain = resolved.replaceAll('%2A', '*').toLowerCase();
  return plain === '/' ? plain : plain.replace(/\/$/, '');
}

const PARAMETERS = /(?:;|%3b)[^/]*/gi;
const ESCAPED_SLASH = /%2F|%5C/g;
