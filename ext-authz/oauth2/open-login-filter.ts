import type { KeyObject } from 'node:crypto';
import { BoundedCache } from '../bounded-cache.ts';
import type { OAuth2Settings } from '../filter-settings.ts';
import type { HttpRequest } from '../http-request.ts';
import { toRequestMatcher } from '../parse-condition.ts';
import type { Provider } from '../provider/provider.ts';
import type { RecordStore } from '../store/record-store.ts';
import { sessionNames, XSRF } from './cookies.ts';
import type { LoginFilter, PresentedAs } from './login-filter.ts';
import type { LoginSettings, Sources } from './login-settings.ts';
import { placesOf } from './origin.ts';
import { PRESENTED_BOUNDS } from './presented-session.ts';
import { Refreshes } from './refresh.ts';
import type { ResourceServer } from './resource-server.ts';
import { SessionRecords } from './session-records.ts';

export type LoginFilterParts = {
  readonly realm: string;
  readonly settings: LoginSettings & Pick<OAuth2Settings, 'useSessionCookies'>;
  readonly provider: Provider;
  readonly resourceServer: ResourceServer;
  readonly store: RecordStore;
  readonly storeKey: KeyObject;
  readonly sources: Sources;
};

/** A Filter of grantType AuthorizationCode; with new settings it is opened anew. Its sessions go on, unless provider or client are others. */
export function openLoginFilter(parts: LoginFilterParts): LoginFilter {
  const { provider, realm, settings, sources, store } = parts;
  const sealRealm = JSON.stringify([realm, settings.authorizationURL, settings.clientID ?? '']);
  const sessions = new SessionRecords({ store, realm: sealRealm, randomBytes: sources.randomBytes });
  const refreshes = new Refreshes({ realm: sealRealm, settings, provider, store, sessions, sources });
  const usesSessionCookies = cookieChoice(settings.useSessionCookies);
  const [shared, hostOnly] = [presentedAs(realm, true), presentedAs(realm, false)];
  const placeOf = placesOf(settings.protectedOrigins);
  return { ...parts, hostOnly, shared, placeOf, sealRealm, usesSessionCookies, sessions, refreshes };
}

function presentedAs(realm: string, includeSubdomains: boolean): PresentedAs {
  const session = sessionNames(realm, { secure: true, includeSubdomains }).at(-1) ?? '';
  return { session, xsrf: `${XSRF}.${realm}`, presented: new BoundedCache(PRESENTED_BOUNDS) };
}

/** Document 1, "useSessionCookies": requests that do not meet the condition get the negation of `value`. */
function cookieChoice({
  ifRequestHeader,
  value,
}: OAuth2Settings['useSessionCookies']): (request: HttpRequest) => boolean {
  if (ifRequestHeader === undefined) return () => value;
  const matches = toRequestMatcher(ifRequestHeader);
  return request => (matches(request) ? value : !value);
}
