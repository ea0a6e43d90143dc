import { caution, type FieldPath, type Finding } from '#resources/finding.ts';
import type { PatternLabel } from '#resources/labels/label-pattern.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import {
  checkErrorResponse,
  checkHeaders,
  LIMIT_DATA,
  LIMIT_ERROR_DATA,
} from '#resources/template/template-vocabulary.ts';
import { repeats } from '#resources/words/repeats.ts';
import { type Limit, type RateLimitSpec, rateLimitSpec } from './rate-limit-spec.ts';

/** Limits by label (docs/reference/kinds/rate-limit.md). */
export const rateLimit: KindDefinition<typeof rateLimitSpec> = {
  summary: 'How many requests with certain labels may pass in a unit of time.',
  schema: rateLimitSpec,
  fieldsAt: 'spec',
  unknownField: 'warning',
  check: checkRateLimit,
};

/** Finds what in a RateLimit has no effect, or another one than it seems to have. */
export function checkRateLimit({ limits }: Partial<RateLimitSpec>): readonly Finding[] {
  if (limits?.length === 0)
    return [caution(['limits'], 'there is no limit: nothing is limited by this')];
  return (limits ?? []).flatMap((limit, index) => checkLimit(limit, ['limits', index]));
}

function checkLimit(limit: Limit, path: FieldPath): readonly Finding[] {
  const { pattern, injectRequestHeaders, injectResponseHeaders, errorResponse } = limit;
  return [
    ...pattern.flatMap((item, index) => checkItem(item, [...path, 'pattern', index])),
    ...checkHeaders(injectRequestHeaders, LIMIT_DATA, [...path, 'injectRequestHeaders']),
    ...checkHeaders(injectResponseHeaders, LIMIT_DATA, [...path, 'injectResponseHeaders']),
    ...checkErrorResponse(errorResponse, LIMIT_ERROR_DATA, [...path, 'errorResponse']),
  ];
}

function checkItem(item: PatternLabel, path: FieldPath): readonly Finding[] {
  const twice = repeats(item.map(({ key, value }) => JSON.stringify([key, value])));
  const keys = new Set(twice.map(index => item[index]?.key));
  return [...keys].map(key => caution(path, `the label "${key}" stands twice with the same value`));
}
