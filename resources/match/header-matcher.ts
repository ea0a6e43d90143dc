import { RE2JS } from 're2js';
import type { HeaderCondition } from './header-condition.ts';

/** The header fields of a request. Name in lower case → the values of its fields, in order. */
export type HeaderFields = ReadonlyMap<string, readonly string[]>;

/**
 * Compiles a condition. A header of several fields matches when any of them does. `value` is
 * compared exactly. `valueRegex` is searched for. With neither, a field that is not empty matches.
 * `:authority` is compared in lower case, as hosts have no case.
 */
export function toHeaderMatcher(condition: HeaderCondition): (headers: HeaderFields) => boolean {
  const { name, negate } = condition;
  const matchesValue = valueMatcher(condition);
  return headers => (headers.get(name) ?? []).some(matchesValue) !== negate;
}

function valueMatcher({ name, value, valueRegex }: HeaderCondition): (field: string) => boolean {
  const wanted = name === ':authority' ? value?.toLowerCase() : value;
  if (wanted !== undefined) return field => field === wanted;
  if (valueRegex === undefined) return field => field !== '';
  const regex = RE2JS.compile(valueRegex);
  return field => regex.test(field);
}
