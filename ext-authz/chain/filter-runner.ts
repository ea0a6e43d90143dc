import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { Outcome } from '#ext-authz/http/outcome.ts';
import type { RuleItem } from '#ext-authz/policy/rule.ts';
import type { Eventually } from '#process/eventually.ts';

/**
 * A filter, ready to decide. It sees the request as the filters before it changed it. What it
 * throws becomes an answer in one place: ProviderError 502 or 504, StoreUnavailable 503, all else
 * 500. An outcome without a promise spares the event loop a turn.
 */
export type FilterRunner = (
  request: HttpRequest,
  item: RuleItem,
  context: FilterContext,
) => Eventually<Outcome>;

/** What belongs to one check. */
export type FilterContext = {
  /** Aborts when the check's time (4 s) is over; made when it is first asked for. */
  signal(): AbortSignal;
  /**
   * Runs the items of `insteadOfRedirect.filters` as a chain of their own. Its outcome is the
   * OAuth2 filter's; undefined when no item let the request pass and none answered: the filter then
   * answers its 403 page. Source: docs/adr/0012-logins-in-the-browser.md.
   */
  runInner(items: readonly RuleItem[], request: HttpRequest): Eventually<Outcome | undefined>;
};

/** What of a Filter the chain needs. */
export type RunnableFilter = {
  readonly type: FilterType;
  /** Names, in lower case, of all headers that it may set: removed from what the client sent. */
  readonly injects: ReadonlySet<string>;
  readonly run: FilterRunner;
};

export type FilterType = 'OAuth2' | 'JWT';
