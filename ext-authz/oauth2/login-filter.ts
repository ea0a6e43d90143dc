import type { KeyObject } from 'node:crypto';
import type { OAuth2Settings } from '../filter-settings.ts';
import type { HeaderFields } from '../http-request.ts';
import type { BoundedCache } from '../jwt/bounded-cache.ts';
import type { Provider } from '../provider/provider.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { RandomBytes } from '../store/sealed-record.ts';
import type { FindPlace } from './origin.ts';
import type { Presented } from './presented-session.ts';
import type { Refreshes } from './refresh.ts';
import type { ResourceServer } from './resource-server.ts';
import type { SessionRecords } from './session-records.ts';

/** The settings of a Filter that concern its logins. */
export type LoginSettings = Pick<
  OAuth2Settings,
  | 'protectedOrigins'
  | 'expirationSafetyMargin'
  | 'clientSessionMaxIdle'
  | 'extraAuthorizationParameters'
  | 'postLogoutRedirectURI'
  | 'authorizationURL'
  | 'clientID'
>;

/** Time and chance. */
export type Sources = {
  /** ms since the epoch */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  /** Resolves after `ms`, or when the signal aborts. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A signal that aborts when the time for the provider is over: shorter than a check's 4 s. */
  readonly deadline: () => AbortSignal;
};

/** A Filter of grantType AuthorizationCode, ready to decide. */
export type LoginFilter = {
  /** `<name>.<namespace>` */
  readonly realm: string;
  /** Realm, provider and client: what belongs to others is found by nobody, so that no token goes to another provider than its own. */
  readonly sealRealm: string;
  readonly settings: LoginSettings;
  /** See `placeOf`. */
  readonly placeOf: FindPlace;
  /** The names of its session's cookies. */
  readonly cookies: { readonly session: string; readonly xsrf: string };
  /** What `Cookie` fields said that named a session. See `presentedSession`. */
  readonly presented: BoundedCache<Presented>;
  /** Whether cookies that a request brings about end with the browser (`useSessionCookies`). */
  readonly usesSessionCookies: (headers: HeaderFields) => boolean;
  readonly provider: Provider;
  readonly resourceServer: ResourceServer;
  readonly store: RecordStore;
  /** For what could be guessed: clients' addresses. */
  readonly storeKey: KeyObject;
  readonly sessions: SessionRecords;
  readonly refreshes: Refreshes;
  readonly sources: Sources;
};
