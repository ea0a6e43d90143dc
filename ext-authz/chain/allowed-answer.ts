import type { Change, EncodedResponse, RuleHeaders } from '#ext-authz/http/filter-decision.ts';
import { allowResponse, type CheckResponse } from '#ext-authz/wire/check-response.ts';
import { encodeCheck } from '#ext-authz/wire/encode-check.ts';

const NONE: readonly string[] = [];

/**
 * Returns the answer to a request that one filter let pass. Each check is decided again, and only
 * the encoding of its latest answer is saved. A change is the same object only while everything
 * that its filter went by is the same. Where a request has no header that is settled after the
 * chain, the answer depends on nothing else but the rule and the cookies. `headers` are the rule's,
 * `cookies` the request's fields. `settle` returns what the upstream gets.
 */
export function allowedAnswer(
  { memory }: Change,
  headers: RuleHeaders,
  cookies: readonly string[] = NONE,
  settle: () => Change,
): CheckResponse | EncodedResponse {
  if (memory === undefined) return allowResponse(settle());
  const known = memory.answered;
  if (known !== undefined && known.headers === headers && areEqual(known.cookies, cookies))
    return known.response;
  const response = { encoded: Uint8Array.from(encodeCheck(allowResponse(settle()))) };
  memory.answered = { headers, cookies, response };
  return response;
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index]);
}
