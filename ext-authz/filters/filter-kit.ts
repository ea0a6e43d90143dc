import type { FilterContext, RunnableFilter } from '#ext-authz/chain/filter-runner.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { SessionList } from '#ext-authz/oauth2/session/session-list.ts';
import type { Definitions } from '#ext-authz/policy/filter-settings.ts';
import type { RuleAt } from '#ext-authz/policy/rule.ts';

/** Makes Filters run. It holds the OAuth2 and JWT filters with their providers and stores. */
export type FilterKit = {
  /**
   * Puts these Filters in force. Returns those that can run, by the same names. An unchanged Filter
   * (by `version`) keeps its caches. A Filter that is left out closes what refers to it.
   */
  use(definitions: Definitions): ReadonlyMap<string, RunnableFilter>;
  /**
   * Ends all sessions of a user at a Filter, by the claim `sub`. Returns how many there were.
   * Rejects with StoreUnavailable.
   * @returns undefined when the Filter is unknown here, or has no sessions
   */
  endSessions(filter: string, user: string): Promise<number | undefined>;
  /**
   * Answers a request below `/.gateway/oauth2/`. May throw as a filter may. `ruleAt` finds the
   * rules in force.
   * @returns undefined when there is no such path on this origin
   */
  endpoint(
    request: HttpRequest,
    context: Pick<FilterContext, 'signal'> & { readonly ruleAt: RuleAt },
  ): Promise<GatewayAnswer | undefined>;
  /** Returns the sessions of each Filter that logs in, by `<namespace>/<name>`. */
  sessionLists(): ReadonlyMap<string, SessionList>;
  /** Returns what is known of the provider of each Filter, without asking. */
  providers(): readonly object[];
  /**
   * Returns the keys by which JWT filters verify tokens now, as `FilterKeySet` in knowledge.proto.
   * Where they are not known it asks the providers. What cannot be had is left out.
   */
  keySets(): Promise<readonly object[]>;
};
