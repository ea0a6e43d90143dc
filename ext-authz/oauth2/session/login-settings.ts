import type { OAuth2Settings } from '#ext-authz/policy/filter-settings.ts';
import type { RandomBytes } from '#ext-authz/store/sealed-record.ts';

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
