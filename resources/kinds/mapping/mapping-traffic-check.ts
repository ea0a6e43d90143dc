import { caution, type FieldPath, type Finding, fault } from '#resources/finding.ts';
import { checkCredentials, openOrigin } from '#resources/traffic/cors.ts';
import { isHashing, keysOf } from '#resources/traffic/load-balancer.ts';
import { checkHealth } from './health-checks.ts';
import type { MappingSpec } from './mapping-spec.ts';

/** Checks the rules between a Mapping's fields about traffic. */
export function checkTraffic(spec: Partial<MappingSpec>): readonly Finding[] {
  return [
    ...checkCors(spec),
    ...checkCredentials(spec.cors, ['cors']),
    ...checkAddedCredentials(spec),
    ...checkRetries(spec),
    ...checkBalancer(spec),
    ...checkShadow(spec),
    ...checkFamilies(spec),
    ...checkHealth(spec.health_checks, spec.grpc !== false, ['health_checks'], '`grpc: true`'),
  ];
}

const CREDENTIALS = 'access-control-allow-credentials';

/**
 * Whether credentials would be allowed to any origin, since Envoy names the origin of the request.
 * Then no other field may allow them.
 */
export function addsCredentials({
  cors,
  add_response_headers = {},
}: Partial<MappingSpec>): boolean {
  const isOpen = cors !== undefined && openOrigin(cors) !== undefined;
  return isOpen && Object.hasOwn(add_response_headers, CREDENTIALS);
}

function checkAddedCredentials(spec: Partial<MappingSpec>): readonly Finding[] {
  if (!addsCredentials(spec)) return [];
  const message = 'with `cors` for any origin it would let any site act as the client';
  return [fault(['add_response_headers', CREDENTIALS], message)];
}

/**
 * A preflight is an OPTIONS without the request's own headers (Fetch Standard, "CORS-preflight
 * fetch").
 */
function checkCors(spec: Partial<MappingSpec>): readonly Finding[] {
  const { cors, headers = {}, method, method_regex = false, regex_headers = {} } = spec;
  if (cors === undefined) return [];
  const fields = Object.entries({ headers, regex_headers });
  const asked = fields.flatMap(([field, match]) =>
    Object.keys(match).map(name => [field, name] as const),
  );
  const unmatched = (path: FieldPath) =>
    caution(path, 'preflights do not match it: give `cors` to a Mapping that matches OPTIONS here');
  return [
    ...(cors.origins.length === 0
      ? [caution(['cors', 'origins'], 'no origin may read the answers')]
      : []),
    ...(method === undefined || method_regex || method === 'OPTIONS'
      ? []
      : [unmatched(['method'])]),
    ...asked.filter(([, name]) => !IN_PREFLIGHTS.includes(name)).map(unmatched),
  ];
}

function checkRetries({ retry_policy, timeout_ms }: Partial<MappingSpec>): readonly Finding[] {
  if (retry_policy === undefined) return [];
  const { retry_on, per_try_timeout = 0 } = retry_policy;
  const never = `\`${STATUS_CODES}\` never holds: there is no field for the codes`;
  return [
    ...(retry_on.includes(STATUS_CODES) ? [caution(['retry_policy', 'retry_on'], never)] : []),
    ...(timeout_ms !== undefined && timeout_ms > 0 && per_try_timeout >= timeout_ms
      ? [
          caution(
            ['retry_policy', 'per_try_timeout'],
            `it never ends a try: \`timeout_ms\` is ${timeout_ms}`,
          ),
        ]
      : []),
  ];
}

function checkBalancer({ load_balancer }: Partial<MappingSpec>): readonly Finding[] {
  if (load_balancer === undefined) return [];
  const keys = keysOf(load_balancer);
  if (!isHashing(load_balancer))
    return keys.map(key =>
      caution(
        ['load_balancer', key],
        `\`${key}\` counts with the policies \`ring_hash\` and \`maglev\` only`,
      ),
    );
  const random = 'requests are spread at random: name a `cookie`, a `header` or `source_ip`';
  return keys.length === 0 ? [caution(['load_balancer', 'policy'], random)] : [];
}

/** A shadow receives copies of the requests to the other service. */
function checkShadow({
  shadow,
  remove_request_headers: removed = [],
  add_request_headers: added = {},
  host_rewrite,
}: Partial<MappingSpec>): readonly Finding[] {
  if (shadow !== true) return [];
  const unserved = [
    ...(Object.keys(added).length === 0 ? [] : ['add_request_headers']),
    ...(host_rewrite === undefined ? [] : ['host_rewrite']),
  ];
  const hidden = 'is not served with `shadow`: the service would get headers that it must not see';
  return [
    ...(removed.length === 0
      ? []
      : [fault(['remove_request_headers'], `\`remove_request_headers\` ${hidden}`)]),
    ...unserved.map(field =>
      caution([field], `\`${field}\` is that of the Mapping whose requests are copied`),
    ),
  ];
}

function checkFamilies({ enable_ipv4, enable_ipv6 }: Partial<MappingSpec>): readonly Finding[] {
  if (enable_ipv4 !== false || enable_ipv6 !== false) return [];
  return [
    fault(['enable_ipv6'], 'without `enable_ipv4` and `enable_ipv6` the service has no address'),
  ];
}

const STATUS_CODES = 'retriable-status-codes';

const IN_PREFLIGHTS: readonly string[] = [
  ':authority',
  ':scheme',
  'origin',
  'user-agent',
  'x-forwarded-proto',
];
