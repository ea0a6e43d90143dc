import { caution, type FieldPath, type Finding } from './finding.ts';
import type { PatternLabel } from './label-pattern.ts';
import type { Limit, RateLimitSpec } from './rate-limit.ts';

type Headers = Limit['injectRequestHeaders'];

/** What in a RateLimit has no effect, or not the one that it seems to have. */
export function checkRateLimit({ limits }: Partial<RateLimitSpec>): readonly Finding[] {
  if (limits?.length === 0) return [caution(['limits'], 'there is no limit: nothing is limited by this')];
  return (limits ?? []).flatMap((limit, index) => checkLimit(limit, ['limits', index]));
}

function checkLimit(limit: Limit, path: FieldPath): readonly Finding[] {
  const { pattern, injectRequestHeaders, injectResponseHeaders, errorResponse } = limit;
  return [
    ...pattern.flatMap((item, index) => checkItem(item, [...path, 'pattern', index])),
    ...checkHeaders(injectRequestHeaders, [...path, 'injectRequestHeaders']),
    ...checkHeaders(injectResponseHeaders, [...path, 'injectResponseHeaders']),
    ...checkHeaders(errorResponse?.headers ?? [], [...path, 'errorResponse', 'headers']),
  ];
}

function checkItem(item: PatternLabel, path: FieldPath): readonly Finding[] {
  const twice = repeats(item.map(({ key, value }) => JSON.stringify([key, value])));
  const keys = new Set(twice.map(index => item[index]?.key));
  return [...keys].map(key => caution(path, `the label "${key}" stands twice with the same value`));
}

function checkHeaders(headers: Headers, path: FieldPath): readonly Finding[] {
  return repeats(headers.map(({ name }) => name)).map(index =>
    caution([...path, index, 'name'], `the header "${headers[index]?.name}" is set twice; the first counts`),
  );
}

/** The indices of what stands in the list before. */
function repeats(items: readonly string[]): readonly number[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const repeated = seen.has(item);
    seen.add(item);
    return repeated ? [index] : [];
  });
}
