import type { KeyObject } from 'node:crypto';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { sessionNames, XSRF } from '#ext-authz/oauth2/session/cookies.ts';
import type { LoginFilter, PresentedAs } from '#ext-authz/oauth2/session/login-filter.ts';
import type { LoginSettings, Sources } from '#ext-authz/oauth2/session/login-settings.ts';
import { placesOf } from '#ext-authz/oauth2/session/origin.ts';
import { PRESENTED_BOUNDS } from '#ext-authz/oauth2/session/presented-session.ts';
import { Refreshes } from '#ext-authz/oauth2/session/refresh.ts';
import { SessionRecords } from '#ext-authz/oauth2/session/session-records.ts';
import type { ResourceServer } from '#ext-authz/oauth2/tokens/resource-server.ts';
import type { OAuth2Settings } from '#ext-authz/policy/filter-settings.ts';
import { toRequestMatcher } from '#ext-authz/policy/parse-condition.ts';
import type { Provider } from '#ext-authz/provider/provider.ts';
import type { ProviderListener } from '#ext-authz/provider/provider-listener.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { BoundedCache } from '#process/bounded-cache.ts';

export type LoginFilterParts = {
  readonly realm: string;
  readonly settings: LoginSettings & Pick<OAuth2Settings, 'useSessionCookies'>;
  readonly provider: Provider;
  readonly resourceServer: ResourceServer;
  readonly store: RecordStore;
  readonly storeKey: KeyObject;
  readonly sources: Sources;
  /** Hears how new access tokens are judged. */
  readonly heard?: ProviderListener | undefined;
};

/**
 * Opens a Filter of grantType AuthorizationCode. With new settings it is opened again. Its sessions
 * go on, unless the provider or the client has changed.
 */
export function openLoginFilter(parts: LoginFilterParts): LoginFilter {
  const { provider, realm, settings, sources, store, storeKey } = parts;
  const sealRealm = JSON.stringify([realm, settings.authorizationURL, settings.clientID ?? '']);
  const { now, randomBytes } = sources;
  const sessions = new SessionRecords({ store, storeKey, realm: sealRealm, randomBytes, now });
  const refreshes = new Refreshes({
    realm: sealRealm,
    settings,
    provider,
    store,
    sessions,
    sources,
  });
  const usesSessionCookies = cookieChoice(settings.useSessionCookies);
  const [shared, hostOnly] = [presentedAs(realm, true), presentedAs(realm, false)];
  const placeOf = placesOf(settings.protectedOrigins);
  return {
    ...parts,
    hostOnly,
    shared,
    placeOf,
    sealRealm,
    usesSessionCookies,
    sessions,
    refreshes,
  };
}

function presentedAs(realm: string, includeSubdomains: boolean): PresentedAs {
  const session = sessionNames(realm, { secure: true, includeSubdomains }).at(-1) ?? '';
  return { session, xsrf: `${XSRF}.${realm}`, presented: new BoundedCache(PRESENTED_BOUNDS) };
}

/**
 * Requests that do not meet the condition get the negation of `value`
 * (docs/reference/kinds/filter.md).
 */
function cookieChoice({
  ifRequestHeader,
  value,
}: OAuth2Settings['useSessionCookies']): (request: HttpRequest) => boolean {
  if (ifRequestHeader === undefined) return () => value;
  const matches = toRequestMatcher(ifRequestHeader);
  return request => (matches(request) ? value : !value);
}
