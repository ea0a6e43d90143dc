import type { JsonObject } from '#protos/json.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import type { Limit } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type { PatternLabel } from '#resources/labels/label-pattern.ts';
import type { Resource } from '#resources/resource.ts';
import type { PrefixLengths } from '#resources/words/address-network.ts';
import { injectedHeaders } from './injected-headers.ts';
import type { LabelKeys } from './label-keys.ts';
import { limitNames } from './limit-name.ts';
import type { TakenHeaders } from './taken-headers.ts';

/** Returns the name of a RateLimit's message: `<namespace>/<name>`. */
export function rateLimitMessageName({ namespace, name }: Resource<'RateLimit'>): string {
  return `${namespace}/${name}`;
}

/**
 * Returns `gateway.config.v1.RateLimit`: what the rate limit service gets of a RateLimit, without
 * taken headers. `keys` are those of its domain.
 */
export function toRateLimitMessage(
  rateLimit: Resource<'RateLimit'>,
  taken: TakenHeaders,
  { hosts, paths }: LabelKeys,
  { ipv4, ipv6 }: PrefixLengths,
): JsonObject {
  const { domain, limits } = rateLimit.spec;
  const names = limitNames(rateLimit);
  return {
    '@type': RATE_LIMIT,
    domain,
    limits: limits.map((limit, index) => ({ name: names[index] ?? '', ...toLimit(limit, taken) })),
    ...(hosts.length === 0 ? {} : { host_keys: hosts }),
    ...(paths.length === 0 ? {} : { path_keys: paths }),
    ...(ipv4 === 32 ? {} : { ipv4_prefix: ipv4 }),
    ...(ipv6 === 128 ? {} : { ipv6_prefix: ipv6 }),
  };
}

function toLimit(limit: Limit, taken: TakenHeaders): JsonObject {
  const { action, pattern, rate, unit, injectResponseHeaders, errorResponse } = limit;
  return {
    action: ACTIONS[action],
    pattern: pattern.map(toPatternLabel),
    rate,
    unit: UNITS[unit],
    inject_request_headers: injectedHeaders(limit, taken).map(toHeader),
    inject_response_headers: injectResponseHeaders.map(toHeader),
    ...(errorResponse === undefined ? {} : { error_response: toErrorResponse(errorResponse) }),
  };
}

const ACTIONS = { Enforce: 'ENFORCE', LogOnly: 'LOG_ONLY' } as const;
const UNITS = { second: 'SECOND', minute: 'MINUTE', hour: 'HOUR', day: 'DAY' } as const;

function toPatternLabel(item: PatternLabel): JsonObject {
  return {
    alternatives: item.map(({ key, value }) => (value === undefined ? { key } : { key, value })),
  };
}

function toErrorResponse({
  headers,
  bodyTemplate,
}: NonNullable<Limit['errorResponse']>): JsonObject {
  return { headers: headers.map(toHeader), body_template: bodyTemplate };
}

function toHeader({ name, value }: Limit['injectRequestHeaders'][number]): JsonObject {
  return { name, value };
}
