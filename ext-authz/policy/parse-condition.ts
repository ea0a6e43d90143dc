import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { flagAt, messageAt, requiredText, textAt, WireError } from '#ext-authz/wire/wire-json.ts';
import type { JsonObject } from '#protos/json.ts';
import { comparedHost } from '#resources/match/filter-policy-match.ts';
import type { HeaderCondition } from '#resources/match/header-condition.ts';
import { toHeaderMatcher } from '#resources/match/header-matcher.ts';

/**
 * Parses the `if_request_header` of a message (`gateway.config.v1.HeaderCondition`).
 * @returns undefined when all requests meet it
 */
export function parseCondition(owner: JsonObject): HeaderCondition | undefined {
  const message = messageAt(owner, 'if_request_header');
  if (message === undefined) return undefined;
  return {
    name: requiredText(message, 'name').toLowerCase(),
    negate: flagAt(message, 'negate'),
    ...(message.value === undefined ? {} : { value: textAt(message, 'value') }),
    ...(message.value_regex === undefined ? {} : { valueRegex: textAt(message, 'value_regex') }),
  };
}

/** Returns the test whether a request meets the `if_request_header` of a message. */
export function parseMatcher(owner: JsonObject): (request: HttpRequest) => boolean {
  const condition = parseCondition(owner);
  if (condition === undefined) return always;
  try {
    return toRequestMatcher(condition);
  } catch {
    throw new WireError('value_regex is not an RE2 expression');
  }
}

/**
 * Returns the test whether a request meets a condition. The condition may name parts of a request
 * that are not fields (RFC 9113 section 8.3.1). `Host` is `:authority`.
 */
export function toRequestMatcher(condition: HeaderCondition): (request: HttpRequest) => boolean {
  const holds = toHeaderMatcher(condition);
  const pseudo = PSEUDO_HEADERS.get(condition.name);
  if (pseudo === undefined) return ({ headers }) => holds(headers);
  return request => holds(new Map([[condition.name, pseudo(request)]]));
}

/**
 * The values of each, of which any may match. The host has one value with its port and one without.
 */
const PSEUDO_HEADERS: ReadonlyMap<string, (request: HttpRequest) => readonly string[]> = new Map([
  [':authority', ({ authority }: HttpRequest) => [authority, comparedHost(authority)]],
  [':method', ({ method }: HttpRequest) => [method]],
  [':path', ({ target }: HttpRequest) => [target]],
  [':scheme', ({ scheme }: HttpRequest) => [scheme]],
]);

function always(): boolean {
  return true;
}
