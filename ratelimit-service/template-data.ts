import { duration } from '#resources/template/duration.ts';
import type { GoInt, GoMap, GoStruct, GoValue } from '#resources/template/go-type.ts';
import { structType, UINT32 } from '#resources/template/go-type.ts';
import { enumType, goInt, goMap, goSlice, goStruct } from '#resources/template/go-value.ts';
import type { LimitStatus, RequestVerdict } from './judge.ts';
import { OK, OVER_LIMIT, UNIT_NUMBERS } from './wire.ts';

const UNIT_NAMES = Object.entries(UNIT_NUMBERS).map(
  ([unit, number]) => [number, unit.toUpperCase()] as const,
);
const UNIT = enumType('ratelimit.Unit', 'int32', new Map(UNIT_NAMES));

const LIMIT = structType('ratelimit.Limit', [
  { name: 'Name', json: 'name', omitEmpty: true },
  { name: 'RequestsPerUnit', json: 'requests_per_unit', omitEmpty: true },
  { name: 'Unit', json: 'unit', omitEmpty: true },
]);

const STATUS = structType('ratelimit.Status', [
  { name: 'Code', json: 'code', omitEmpty: true },
  { name: 'CurrentLimit', json: 'current_limit' },
  { name: 'LimitRemaining', json: 'limit_remaining', omitEmpty: true },
  { name: 'DurationUntilReset', json: 'duration_until_reset', omitEmpty: true },
]);

const RESPONSE = structType('ratelimit.Response', [
  { name: 'OverallCode', json: 'overall_code', omitEmpty: true },
  { name: 'Statuses', json: 'statuses', omitEmpty: true },
]);

/** What an error response is about, besides the limits. */
export type ErrorData = {
  readonly statusCode: number;
  readonly message: string;
  readonly requestId: string;
};

/**
 * Returns the data of injectRequestHeaders and injectResponseHeaders. See
 * docs/reference/kinds/rate-limit.md.
 */
export function injectData(verdict: RequestVerdict): GoMap {
  return goMap(common(verdict));
}

/**
 * Returns the data of errorResponse: that of the injected headers and more. `json` shows the
 * request's id for a 5XX only. See docs/reference/kinds/rate-limit.md.
 */
export function errorData(
  verdict: RequestVerdict,
  { statusCode, message, requestId }: ErrorData,
): GoMap {
  const own: readonly (readonly [string, GoValue])[] = [
    ['status_code', goInt(statusCode)],
    ['message', message],
    ['request_id', requestId.toWellFormed()],
  ];
  return goMap([...common(verdict), ...own], statusCode < 500 ? ['request_id'] : []);
}

function common(verdict: RequestVerdict): readonly (readonly [string, GoValue])[] {
  return [
    ['RateLimitResponse', response(verdict)],
    ['RetryAfter', milliseconds(verdict.retryAfterMs)],
  ];
}

function response({ over, groups }: RequestVerdict): GoStruct {
  const statuses = groups.flatMap(group => group.statuses.map(status));
  return goStruct(RESPONSE, [goInt(over ? OVER_LIMIT : OK), goSlice(statuses, STATUS)]);
}

function status({ limit, exceeded, remaining, resetMs }: LimitStatus): GoStruct {
  const unit = goInt(UNIT_NUMBERS[limit.unit], UNIT);
  return goStruct(STATUS, [
    goInt(exceeded ? OVER_LIMIT : OK),
    goStruct(LIMIT, [limit.name, goInt(limit.rate, UINT32), unit]),
    goInt(remaining, UINT32),
    milliseconds(resetMs),
  ]);
}

function milliseconds(value: number): GoInt {
  return duration(Math.round(value * 1_000_000));
}
