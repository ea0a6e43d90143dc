import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import { LOGIN_SECONDS, leftMs } from '#ext-authz/oauth2/session/state.ts';
import type { IdToken } from '#ext-authz/provider/id-token.ts';

/** The provider's clock may be wrong by this, as for the times of an ID token. */
const SKEW_S = 30;

/**
 * Returns why a user has logged in too long ago for the `max_age` of the Filter, when the login of
 * this `state` began (OpenID Connect Core sections 3.1.2.1 and 3.1.3.7). A user can leave `max_age`
 * out of the URL, so the provider may not know of it. Where it does not send `auth_time`, nothing
 * is known.
 * @returns undefined when the login is recent enough
 */
export function ageFault(
  filter: LoginFilter,
  state: string,
  { claims }: Pick<IdToken, 'claims'>,
): string | undefined {
  const given = filter.settings.extraAuthorizationParameters.get('max_age') ?? '';
  const { auth_time } = claims;
  if (!/^\d{1,12}$/.test(given) || typeof auth_time !== 'number') return undefined;
  const begunMs = filter.sources.now() + leftMs(filter, state) - LOGIN_SECONDS * 1_000;
  const age = Math.floor(begunMs / 1_000) - auth_time;
  return age > Number(given) + SKEW_S
    ? `The login at the identity provider was ${age} s ago (\`auth_time\`), and \`max_age\` is ${given} s.`
    : undefined;
}
