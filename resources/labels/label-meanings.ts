import { comparedHost } from '#resources/match/filter-policy-match.ts';
import { addressNetwork, type PrefixLengths } from '#resources/words/address-network.ts';

/** What the labels of a domain hold, by their keys. */
export type LabelMeanings = {
  /** Of labels that hold the host of a request. */
  readonly hostKeys: Iterable<string>;
  /** Of labels that hold the path of a request without its query. */
  readonly pathKeys: Iterable<string>;
  /** Of `remote_address`. */
  readonly prefixes: PrefixLengths;
};

/**
 * By the key of a label, the form in which its value is matched and counted. Other labels count as
 * they are.
 */
export type ComparableForms = ReadonlyMap<string, (value: string) => string>;

/** A client would have a counter of its own for each way to spell one and the same thing. */
export function comparableForms({ hostKeys, pathKeys, prefixes }: LabelMeanings): ComparableForms {
  return new Map([
    ['remote_address', (address: string) => addressNetwork(address, prefixes)] as const,
    ...[...hostKeys].map(key => [key, comparedHost] as const),
    ...[...pathKeys].map(key => [key, comparablePath] as const),
  ]);
}

/**
 * Without query, parameters (RFC 3986 section 3.3), letter case and the slash at the end: most
 * servers answer these alike. Dot segments, repeated slashes and escaped letters are settled by
 * Envoy.
 */
function comparablePath(path: string): string {
  const [name = ''] = path.split(/[?#]/, 1);
  const plain = name
    .toLowerCase()
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/');
  return plain === '/' ? plain : plain.replace(/\/$/, '');
}
