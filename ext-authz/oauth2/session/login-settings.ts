import type { OAuth2Settings } from '#ext-authz/policy/filter-settings.ts';
import type { RandomBytes } from '#ext-authz/store/sealed-record.ts';

/** The settings of a Filter that concern its logins. */
export type LoginSettings = Pick<
  OAuth2Settings,
  | 'protectedOrigins'
  | 'expirationSafetyMargin'
  | 'clientSessionMaxIdle'
  | 'decisionCache'
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
  /**
   * Returns a signal that aborts when the time for the provider is up. It is shorter than a check's
   * 4 s.
   */
  readonly deadline: () => AbortSignal;
};
