import type { KeyObject } from 'node:crypto';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { ResourceServer } from '#ext-authz/oauth2/tokens/resource-server.ts';
import type { Provider } from '#ext-authz/provider/provider.ts';
import type { ProviderListener } from '#ext-authz/provider/provider-listener.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import type { BoundedCache } from '#process/bounded-cache.ts';
import type { LoginSettings, Sources } from './login-settings.ts';
import type { FindPlace } from './origin.ts';
import type { Presented } from './presented.ts';
import type { Refreshes } from './refresh.ts';
import type { SessionRecords } from './session-records.ts';

/** How a session appears in requests. */
export type PresentedAs = {
  /** The names of its cookies. */
  readonly session: string;
  readonly xsrf: string;
  /** What `Cookie` fields said that named a session. See `presentedSession`. */
  readonly presented: BoundedCache<Presented>;
};

/** A Filter of grantType AuthorizationCode, ready to decide. */
export type LoginFilter = {
  /** `<name>.<namespace>` */
  readonly realm: string;
  /**
   * Realm, provider and client. Another provider or client cannot find the records, so that no
   * token goes to another provider than its own.
   */
  readonly sealRealm: string;
  readonly settings: LoginSettings;
  /** See `placeOf`. */
  readonly placeOf: FindPlace;
  /** How its session appears at origins whose cookies are host-only, and at others. */
  readonly hostOnly: PresentedAs;
  readonly shared: PresentedAs;
  /** Returns whether cookies that a request causes end with the browser (`useSessionCookies`). */
  readonly usesSessionCookies: (request: HttpRequest) => boolean;
  readonly provider: Provider;
  readonly resourceServer: ResourceServer;
  readonly store: RecordStore;
  /** Seals what browsers keep of logins. */
  readonly storeKey: KeyObject;
  readonly sessions: SessionRecords;
  readonly refreshes: Refreshes;
  readonly sources: Sources;
  /** Hears how new access tokens are judged. */
  readonly heard?: ProviderListener | undefined;
};
