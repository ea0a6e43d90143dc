import { type Change, NO_CHANGE, type RuleHeaders } from '#ext-authz/http/filter-decision.ts';
import { withoutGatewayCookies, withoutPlantedCookies } from '#ext-authz/http/gateway-cookies.ts';
import type { HeaderFields, HttpRequest } from '#ext-authz/http/http-request.ts';
import { fieldNames } from '#ext-authz/wire/check-headers.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import { CREDENTIAL_HEADERS } from '#resources/words/reserved-headers.ts';
import type { RunnableFilter } from './filter-runner.ts';
import type { HeaderChanges } from './header-changes.ts';

const CREDENTIALS: ReadonlySet<string> = new Set(CREDENTIAL_HEADERS);

/** What a chain that let the request pass did. */
type Allowed = {
  readonly changes: HeaderChanges;
  /** A JWT filter has allowed the client's own `Authorization`. */
  readonly authorizationChecked: boolean;
};

/** Returns the headers of all filters that a rule may run, including inner ones. */
export function ruleHeaders(filters: readonly RunnableFilter[]): RuleHeaders {
  const injected = new Set(filters.flatMap(({ injects }) => [...injects].map(headerIdentity)));
  // It is settled at the end of the chain, because filters read it until then.
  const injectsAuthorization = injected.delete('authorization');
  const lengths = new Set(
    ['authorization', ...injected, ...CREDENTIALS].map(({ length }) => length),
  );
  const hasOAuth2 = filters.some(({ type }) => type === 'OAuth2');
  return { injected, hasOAuth2, lengths, injectsAuthorization };
}

/**
 * Returns whether a request has a header that only a filter of the rule may set, or one that is
 * settled after the chain. `Cookie` does not count.
 */
export function hasSettledHeaders(
  { headers }: HttpRequest,
  { injected, lengths }: RuleHeaders,
): boolean {
  for (const name of fieldNames(headers, lengths)) {
    const identity = headerIdentity(name);
    if (identity === 'authorization' || injected.has(identity) || CREDENTIALS.has(identity))
      return true;
  }
  return false;
}

/**
 * Returns the request without the headers that only a filter of the rule may set. They are removed
 * in any letter case, and with `_` for `-`.
 */
export function withoutInjected(request: HttpRequest, { injected }: RuleHeaders): HttpRequest {
  const spoofed = [...request.headers.keys()].filter(name => injected.has(headerIdentity(name)));
  if (spoofed.length === 0) return request;
  const headers = new Map(request.headers);
  for (const name of spoofed) headers.delete(name);
  return { ...request, headers };
}

/**
 * Returns the change for a request that no filter has looked at. The gateway's cookies and the
 * credential headers do not reach the upstream.
 */
export function unfilteredChange({ headers }: HttpRequest): Change {
  const remove = new Set([...headers.keys()].filter(name => CREDENTIALS.has(headerIdentity(name))));
  const set = new Map<string, string>();
  settleCookies(headers, fields => withoutGatewayCookies(fields), set, remove);
  return set.size === 0 && remove.size === 0 ? NO_CHANGE : { set, remove, responseHeaders: [] };
}

/**
 * Returns what the upstream gets of a request that its chain let pass. In a rule with an OAuth2
 * filter the client's own `Authorization` goes on only when a JWT filter of that rule ran on it and
 * allowed it. No name is both set and removed. What later Filters read stays before the route is
 * chosen: the gateway's cookies, and credentials for Filters. See docs/adr/0011-ext-authz.md.
 */
export function finalChange(
  client: HttpRequest,
  { injected, hasOAuth2, injectsAuthorization }: RuleHeaders,
  { changes, authorizationChecked }: Allowed,
): Change {
  const { cookies, set: chosen, remove: removed, responseHeaders } = changes.all();
  const set = new Map(chosen);
  const remove = new Set(removed);
  const keepsAuthorization = !injectsAuthorization && (!hasOAuth2 || authorizationChecked);
  for (const name of client.headers.keys()) {
    const identity = headerIdentity(name);
    const refused = identity === 'authorization' && !keepsAuthorization;
    const settled = !client.beforeRoute && CREDENTIALS.has(identity);
    if (refused || injected.has(identity) || settled) remove.add(name);
  }
  const leave = client.beforeRoute ? withoutPlantedCookies : withoutGatewayCookies;
  settleCookies(client.headers, fields => leave(fields, cookies), set, remove);
  for (const name of set.keys()) remove.delete(name);
  return { set, remove, responseHeaders };
}

/**
 * Joins several fields into one when part of them is removed, as HTTP/2 splits and joins them too
 * (RFC 9113 section 8.2.3).
 */
function settleCookies(
  headers: HeaderFields,
  leftOf: (fields: readonly string[]) => readonly string[],
  set: Map<string, string>,
  remove: Set<string>,
): void {
  const fields = headers.get('cookie');
  if (fields === undefined) return;
  const left = leftOf(fields);
  if (left === fields) return;
  const rest = left.filter(field => field !== '');
  if (rest.length === 0) remove.add('cookie');
  else set.set('cookie', rest.join('; '));
}
