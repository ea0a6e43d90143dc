import { caution, type Finding, fault } from './finding.ts';
import { ipVersion } from './ip-address.ts';
import type { MappingMatch, MappingSpec } from './mapping.ts';
import { checkRedirect } from './mapping-redirect.ts';
import { checkRewrite } from './mapping-rewrite.ts';
import { checkTraffic } from './mapping-traffic-check.ts';
import { parsePathRegex, parsePrefix } from './path-match.ts';
import { whyUnreachable } from './unreachable-prefix.ts';

/** The rules between a Mapping's fields. */
export function checkMapping(spec: Partial<MappingSpec>): readonly Finding[] {
  return [
    ...checkMatch(spec),
    ...checkRedirect(spec),
    ...checkRewrite(spec),
    ...checkReach(spec),
    ...checkHop(spec),
    ...checkTraffic(spec),
  ];
}

/** The rules between the fields that select a Mapping's requests. */
export function checkMatch(match: Partial<MappingMatch>): readonly Finding[] {
  const { prefix, prefix_exact, prefix_regex } = match;
  const exclusive =
    prefix_regex && prefix_exact
      ? [fault(['prefix_exact'], '`prefix_exact` and `prefix_regex` exclude each other')]
      : [];
  if (prefix === undefined || prefix_regex === undefined) return exclusive;
  const parsed = prefix_regex ? parsePathRegex(prefix) : parsePrefix(prefix);
  return 'error' in parsed ? [fault(['prefix'], parsed.error), ...exclusive] : exclusive;
}

/** A proxy's certificate is for the name of its service. */
function checkHop({ service, hop_tls }: Partial<MappingSpec>): readonly Finding[] {
  if (hop_tls !== true || service === undefined) return [];
  if (service.scheme === 'https') return [fault(['hop_tls'], '`hop_tls` and https:// exclude each other')];
  if (ipVersion(service.host) === 0) return [];
  return [
    fault(['service'], '`hop_tls` wants the name of a service, not an address: its proxy proves that name'),
  ];
}

/** Matches that no request can have, since Envoy changes it or answers it before. */
function checkReach({ prefix, prefix_regex, headers = {}, node_group }: Partial<MappingSpec>) {
  const why = prefix_regex === false && prefix !== undefined ? whyUnreachable(prefix) : undefined;
  const refused = node_group === 'edge' ? Object.keys(headers).filter(name => name.includes('_')) : [];
  return [
    ...(why === undefined ? [] : [caution(['prefix'], why)]),
    ...refused.map(name =>
      caution(['headers', name], `it matches nothing: the edge answers 400 to a header with "_" in its name`),
    ),
    ...(/:\d+$/.test(String(headers[':authority']))
      ? [
          caution(
            ['headers', ':authority'],
            'it matches nothing: ports are taken from hosts before they are compared; leave it out',
          ),
        ]
      : []),
  ];
}
