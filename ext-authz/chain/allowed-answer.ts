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
  { holds = 0, memory }: Change,
  headers: RuleHeaders,
  cookies: readonly string[] = NONE,
  settle: () => Change,
): CheckResponse | EncodedResponse {
  if (memory === undefined) return allowResponse(settle());
  const known = memory.answered;
  if (
    known !== undefined &&
    known.headers === headers &&
    known.holds === holds &&
    areEqual(known.cookies, cookies)
  )
    return known.response;
  const answer = withMemory(allowResponse(settle()), headers.rememberedAs, holds);
  const response = { encoded: Uint8Array.from(encodeCheck(answer)) };
  memory.answered = { headers, cookies, holds, response };
  return response;
}

/**
 * Tells the proxy which request headers it may set again, for how long. It reads their values from
 * the request that it sends on, so that no token is in metadata, which goes to logs. What a client
 * sends as `Authorization` is always replaced.
 */
function withMemory(answer: CheckResponse, rule: string | undefined, holds: number): CheckResponse {
  const { ok_response } = answer;
  if (rule === undefined || holds < 1 || ok_response === undefined) return answer;
  const names = ok_response.headers.map(({ header }) => header.key);
  if (!names.includes('authorization')) return answer;
  const headers = names.filter(name => name !== 'cookie').join();
  return { ...answer, dynamic_metadata: { rule, ms: String(Math.floor(holds)), headers } };
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index]);
}
