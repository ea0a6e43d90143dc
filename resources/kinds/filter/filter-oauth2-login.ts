import * as z from 'zod';
import { headerCondition } from '#resources/match/header-condition.ts';
import { positiveDuration } from '#resources/words/duration.ts';
import { trueByDefault } from '#resources/words/flags.ts';
import { httpUrl } from '#resources/words/http-url.ts';
import { origin, protectedOrigins } from './filter-oauth2-origins.ts';

/**
 * What the gateway itself sends in an authorization request, and what would change its meaning, in
 * lower case.
 */
const OWN_PARAMETERS: readonly string[] = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'request',
  'request_uri',
];

const sessionCookies = z.object({
  value: trueByDefault.describe('Whether cookies end with the browser'),
  ifRequestHeader: headerCondition
    .exactOptional()
    .describe('Requests for which `value` holds. For others its opposite holds. Default: all'),
});

/** The longest time for which a proxy may repeat a decision. */
const LONGEST_CACHED_MS = 60_000;

/** Settings for grantType `AuthorizationCode` only. */
export const authorizationCodeShape = {
  clientURL: origin
    .exactOptional()
    .describe('Deprecated: the one item of `protectedOrigins`, with internalOrigin `*://*`'),
  protectedOrigins: protectedOrigins
    .exactOptional()
    .describe(
      'Hosts that may set cookies for the application. Required with grantType `AuthorizationCode`, and only there',
    ),
  useSessionCookies: sessionCookies
    .default({ value: false })
    .describe(
      'Cookies that end with the browser, not at a time. Only with grantType `AuthorizationCode`',
    ),
  extraAuthorizationParameters: z
    .record(z.string().min(1, 'a name is not empty'), z.string())
    .meta({ form: 'a map from name to string' })
    .check(({ value, issues }) => {
      for (const name of Object.keys(value).filter(key =>
        OWN_PARAMETERS.includes(key.toLowerCase()),
      )) {
        const message = `the parameter \`${name}\` is the gateway's own and may not be set`;
        issues.push({ code: 'custom', message, path: [name], input: value });
      }
    })
    .default({})
    .describe(
      'Further parameters of the authorization request. Only with grantType `AuthorizationCode`',
    ),
  clientSessionMaxIdle: positiveDuration
    .prefault('336h')
    .describe(
      'How long after its last use a session can be refreshed. Only with grantType `AuthorizationCode`',
    ),
  decisionCache: positiveDuration
    .refine(ms => ms >= 1 && ms <= LONGEST_CACHED_MS, {
      error: '`decisionCache` is from 1ms to 60s: a logout counts only after it',
    })
    .exactOptional()
    .describe(
      'How long a proxy may repeat a decision for the same cookies, and so how late a logout or another change counts. At most `60s`. Default: every request is decided. Only with grantType `AuthorizationCode`',
    ),
  postLogoutRedirectURI: httpUrl
    .exactOptional()
    .describe(
      'Where the provider sends the browser after a logout. Only with grantType `AuthorizationCode`',
    ),
};
