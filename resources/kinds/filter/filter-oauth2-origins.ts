import * as z from 'zod';
import { caution, type FieldPath, type Finding, fault } from '#resources/finding.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { isLoopback, type Origin, parseOrigin, pathInOrigin } from '#resources/words/origin.ts';
import {
  formatOriginPattern,
  type OriginPattern,
  overlap,
  parseOriginPattern,
} from '#resources/words/origin-pattern.ts';
import { parsedString } from '#resources/words/parsed-string.ts';
import { isPublicSuffix } from '#resources/words/public-suffix.ts';

/** A host that may set cookies for the application (docs/reference/kinds/filter.md). */
export type ProtectedOrigin = {
  readonly origin: Origin;
  readonly internalOrigin: OriginPattern;
  readonly includeSubdomains: boolean;
};

// Here and not beside the parsers, because services parse origins without the 95 modules of zod.
export const origin = parsedString('an origin such as `https://example.com`', parseOrigin).meta({
  odd: pathInOrigin,
});

const originPattern = parsedString(
  'an origin such as `https://example.com`, `*://example.com` or `*://*`',
  parseOriginPattern,
).meta({ odd: pathInOrigin });

const protectedOrigin = z
  .object({
    origin: origin.describe(
      'Origin as browsers see it. Its callback is registered with the provider',
    ),
    internalOrigin: originPattern
      .exactOptional()
      .describe(
        'Origin as the gateway sees it, where another gateway is in front. Scheme, authority or both may be `*`. Default: `origin`',
      ),
    includeSubdomains: falseByDefault.describe('The hosts below it belong to it too'),
  })
  .check(({ value, issues }) => {
    const message = value.includeSubdomains
      ? subdomainFault(value.origin, value.internalOrigin)
      : undefined;
    if (message !== undefined)
      issues.push({ code: 'custom', message, path: ['includeSubdomains'], input: value });
  })
  .transform(
    ({ origin, internalOrigin = origin, includeSubdomains }): ProtectedOrigin => ({
      origin,
      internalOrigin,
      includeSubdomains,
    }),
  );

export const protectedOrigins = z
  .array(protectedOrigin)
  .min(1)
  .meta({ form: 'a list of at least one origin' });

function subdomainFault({ host }: Origin, internal: OriginPattern | undefined): string | undefined {
  if (internal?.scheme === '*' || internal?.host === '*')
    return '`includeSubdomains` and a `*` in `internalOrigin` exclude each other';
  const address = [host, internal?.host ?? host].find(name => ipVersion(name) !== 0);
  if (address !== undefined) return `${address} is an IP address and has no subdomains`;
  if (host === 'localhost') return 'browsers keep no cookies for the subdomains of localhost';
  return isPublicSuffix(host)
    ? `"${host}" is a public suffix: browsers refuse cookies for all its subdomains`
    : undefined;
}

/** The settings of an OAuth2 filter that say which origins it protects. */
type OriginSettings = {
  readonly grantType: string;
  readonly clientURL?: Origin;
  readonly protectedOrigins?: readonly ProtectedOrigin[];
};

/**
 * Returns the protected origins of a filter, with `clientURL` as what it stands for. There are none
 * unless the grant type is AuthorizationCode.
 */
export function protectedOriginsOf({
  grantType,
  clientURL,
  protectedOrigins,
}: OriginSettings): readonly ProtectedOrigin[] {
  if (grantType !== 'AuthorizationCode') return [];
  return protectedOrigins ?? (clientURL === undefined ? [] : [fromClientURL(clientURL)]);
}

/** Returns the protected origin that `clientURL` (deprecated) stands for. */
function fromClientURL(clientURL: Origin): ProtectedOrigin {
  return {
    origin: clientURL,
    internalOrigin: { scheme: '*', host: '*' },
    includeSubdomains: false,
  };
}

/** Checks the rules between the origins of one Filter. */
export function checkOrigins(origins: readonly ProtectedOrigin[]): readonly Finding[] {
  return origins.flatMap((item, index) => {
    const path = ['protectedOrigins', index];
    return [
      ...checkScheme(item, origins, path),
      ...checkUnique(item, origins.slice(0, index), path),
    ];
  });
}

function checkScheme(
  { origin }: ProtectedOrigin,
  origins: readonly ProtectedOrigin[],
  path: FieldPath,
) {
  const [first] = origins;
  if (first !== undefined && first.origin.scheme !== origin.scheme) {
    return [
      fault(
        [...path, 'origin'],
        'the origins of one Filter are all http or all https, since they share a session',
      ),
    ];
  }
  return checkOpen(origin, [...path, 'origin']);
}

/** Warns of cookies without `Secure`. */
export function checkOpen(origin: Origin, path: FieldPath): readonly Finding[] {
  if (origin.scheme === 'https' || isLoopback(origin.host)) return [];
  return [caution(path, 'http without TLS: an attacker on the way can take over a session')];
}

function checkUnique(item: ProtectedOrigin, before: readonly ProtectedOrigin[], path: FieldPath) {
  const other = before.findIndex(earlier => overlap(earlier, item));
  const first = before[other];
  if (first === undefined) return checkPorts(item, before, path);
  const [a, b] = [
    formatOriginPattern(item.internalOrigin),
    formatOriginPattern(first.internalOrigin),
  ];
  return [
    fault(
      path,
      `${a} and ${b} (protectedOrigins[${other}]) match the same internal origin. A request can belong to one only`,
    ),
  ];
}

/**
 * The proxies strip ports from the hosts of requests. Otherwise a client could get another policy
 * or limit by another port.
 */
function checkPorts(item: ProtectedOrigin, before: readonly ProtectedOrigin[], path: FieldPath) {
  const other = before.findIndex(earlier => overlap(withoutPort(earlier), withoutPort(item)));
  if (other < 0) return [];
  return [
    caution(
      path,
      `differs from protectedOrigins[${other}] in the port only, which requests are not told apart by: all count as protectedOrigins[${other}]`,
    ),
  ];
}

function withoutPort({
  internalOrigin: { scheme, host },
  ...item
}: ProtectedOrigin): ProtectedOrigin {
  return { ...item, internalOrigin: { scheme, host } };
}
