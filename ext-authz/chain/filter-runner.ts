import type { FilterDecision } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { RuleItem } from '#ext-authz/policy/rule.ts';
import type { Eventually } from '#process/eventually.ts';

/**
 * A filter that is ready to decide. It sees the request as the filters before it changed it. What
 * it throws becomes an answer in one place: ProviderError 502 or 504, StoreUnavailable 503, all
 * else 500. An outcome without a promise saves a turn of the event loop.
 */
export type FilterRunner = (
  request: HttpRequest,
  item: RuleItem,
  context: FilterContext,
) => Eventually<FilterDecision>;

/** What belongs to one check. */
export type FilterContext = {
  /**
   * Returns a signal that aborts when the check's time (4 s) is up. It is made on the first call.
   */
  signal(): AbortSignal;
  /**
   * Runs the items of `insteadOfRedirect.filters` as a chain of their own. Its outcome is that of
   * the OAuth2 filter. See docs/adr/0012-logins-in-the-browser.md.
   * @returns undefined when no item let the request pass and none answered. The filter then answers
   * with its 403 page.
   */
  runInner(
    items: readonly RuleItem[],
    request: HttpRequest,
  ): Eventually<FilterDecision | undefined>;
};

/** What the chain needs of a Filter. */
export type RunnableFilter = {
  readonly type: FilterType;
  /**
   * The names, in lower case, of all headers that it may set. They are removed from what the client
   * sent.
   */
  readonly injects: ReadonlySet<string>;
  readonly run: FilterRunner;
};

export type FilterType = 'OAuth2' | 'JWT';
