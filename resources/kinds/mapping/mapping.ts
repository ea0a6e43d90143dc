import { caution, type Finding, fault } from '#resources/finding.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { UNDERSCORE } from '#resources/traffic/edge-headers.ts';
import { whyUnreachable, whyUnreachableByRegex } from '#resources/traffic/unreachable-prefix.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { serviceIn } from '#resources/words/service.ts';
import { checkRepeated, checkSilent } from '../module/error-response-overrides.ts';
import { checkHeaders } from './mapping-headers.ts';
import { checkMatch } from './mapping-match.ts';
import { checkRedirect } from './mapping-redirect.ts';
import { checkRewrite } from './mapping-rewrite.ts';
import { type MappingSpec, mappingSpec } from './mapping-spec.ts';
import { checkTls } from './mapping-tls.ts';
import { checkTraffic } from './mapping-traffic-check.ts';

/** What to write in place of fields of Ambassador's Mapping that are not served. */
const AMBASSADOR_FIELDS: ReadonlyMap<string, string> = new Map([
  ['add_linkerd_headers', 'Write `l5d-dst-override` in `add_request_headers`'],
  [
    'bypass_error_response_overrides',
    "The Module's bodies count here too. Write `error_response_overrides` in the other Mappings",
  ],
  ['dns_type', 'All addresses of a name are used, as with `strict_dns`'],
]);

/** A route from matching requests to an upstream service. */
export const mapping: KindDefinition<typeof mappingSpec> = {
  summary: 'Sends the requests that match to a service.',
  schema: mappingSpec,
  metadata: ['labels'],
  fieldsAt: 'spec',
  unknownField: 'warning',
  foreignFields: AMBASSADOR_FIELDS,
  restricting: [
    'host',
    'hostname',
    'prefix_exact',
    'method',
    'headers',
    'regex_headers',
    'query_parameters',
    'regex_query_parameters',
    'node_group',
    'labels',
    'shadow',
    'closed',
    'remove_request_headers',
  ],
  check: checkMapping,
  inNamespace: (spec, namespace) =>
    spec.host_redirect ? spec : { ...spec, service: serviceIn(spec.service, namespace) },
};

/** Checks the rules between a Mapping's fields. */
export function checkMapping(spec: Partial<MappingSpec>): readonly Finding[] {
  return [
    ...checkMatch(spec),
    ...checkHeaders(spec),
    ...checkRedirect(spec),
    ...checkRewrite(spec),
    ...checkReach(spec),
    ...checkHop(spec),
    ...checkTls(spec),
    ...checkTraffic(spec),
    ...checkRepeated(spec.error_response_overrides, ['error_response_overrides']),
    ...checkSilent(spec.error_response_overrides, ['error_response_overrides']),
  ];
}

/** A proxy's certificate is for the name of its service. */
function checkHop({ service, hop_tls }: Partial<MappingSpec>): readonly Finding[] {
  if (hop_tls !== true || service === undefined) return [];
  if (service.scheme === 'https')
    return [fault(['hop_tls'], '`hop_tls` and https:// exclude each other')];
  if (ipVersion(service.host) === 0) return [];
  return [
    fault(
      ['service'],
      '`hop_tls` wants the name of a service, not an address: its proxy proves that name',
    ),
  ];
}

/** Finds matches that no request can have, because Envoy changes it or answers it earlier. */
function checkReach(spec: Partial<MappingSpec>): readonly Finding[] {
  const {
    case_sensitive,
    prefix,
    prefix_regex,
    headers = {},
    host,
    method = '',
    method_regex,
    regex_headers = {},
    node_group,
  } = spec;
  const whyNot = prefix_regex === true ? whyUnreachableByRegex : whyUnreachable;
  const why = prefix === undefined || prefix_regex === undefined ? undefined : whyNot(prefix);
  const fields = Object.entries({ headers, regex_headers });
  const named = fields.flatMap(([field, match]) =>
    Object.keys(match).map(name => [field, name] as const),
  );
  const rejected = node_group === 'edge' ? named.filter(([, name]) => name.includes('_')) : [];
  return [
    ...(host === CHOSEN_BY_A_HOST ? [fault(['host'], CHOSEN)] : []),
    ...(prefix_regex === true && case_sensitive === false
      ? [caution(['case_sensitive'], CASE)]
      : []),
    ...(why === undefined ? [] : [caution(['prefix'], why)]),
    ...(method_regex === false && EXPRESSION.test(method) ? [caution(['method'], NO_METHOD)] : []),
    ...rejected.map(path => caution(path, UNDERSCORE)),
  ];
}

/** What Emissary's cluster writes for a Mapping that has no `hostname`, asked for it as v2. */
const CHOSEN_BY_A_HOST = '_skip_mapping_with_empty_host_';
const CHOSEN =
  'this Mapping had no `hostname`, since a Host chose it by its `mappingSelector`: remove this line to be chosen by labels, or write the `hostname` of that Host';

/** A method may have these characters too, but none that is in use has. */
const EXPRESSION = /[|*^$]|\.\+/;
const NO_METHOD =
  'it matches nothing: no client is known to send such a method. `method_regex: true` makes it an expression';

const CASE = '`case_sensitive` has no effect with `prefix_regex`: begin the expression with `(?i)`';
