import { allowResponse, type EncodedResponse } from './check-response.ts';
import { encodeCheck } from './encode-check.ts';
import type { RuleHeaders } from './final-change.ts';
import type { Change } from './outcome.ts';

/** What a remembered answer was made of, besides what the filter did. */
type Answered = {
  readonly headers: RuleHeaders;
  readonly cookies: readonly string[];
  readonly response: EncodedResponse;
};

const NONE: readonly string[] = [];

/**
 * The latest answer to requests that one filter let pass, for each thing that it did, which is the same object only while all that the filter went
 * by is the same: each check is decided anew, and only the writing of an answer is spared. It depends on nothing else but the rule and the cookies
 * where a request has no header that is settled after the chain. Lives as long as the change.
 */
export class AllowedAnswers {
  readonly #answers = new WeakMap<Change, Answered>();

  /** `headers` are the rule's, `cookies` the request's fields; `settle` says what the upstream gets. */
  answer(
    only: Change,
    headers: RuleHeaders,
    cookies: readonly string[] = NONE,
    settle: () => Change,
  ): EncodedResponse {
    const known = this.#answers.get(only);
    if (known !== undefined && known.headers === headers && areEqual(known.cookies, cookies))
      return known.response;
    const response = { encoded: Uint8Array.from(encodeCheck(allowResponse(settle()))) };
    this.#answers.set(only, { headers, cookies, response });
    return response;
  }
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index]);
}
