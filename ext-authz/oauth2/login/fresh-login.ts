import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { Link } from '#ext-authz/http/html-page.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import { internalAuthority, LOGIN_PATH, loginOrigin } from '#ext-authz/oauth2/session/origin.ts';
import { presentedSession } from '#ext-authz/oauth2/session/presented-session.ts';
import type { RuleArguments, RuleAt } from '#ext-authz/policy/rule.ts';
import type { ProviderMetadata } from '#ext-authz/provider/provider-metadata.ts';
import { failurePage, methodNotAllowed } from './gateway-page.ts';
import { beginLogin } from './login.ts';
import { canLogIn } from './navigation.ts';
import type { Protecting } from './protecting.ts';
import { protectedUrl } from './return-url.ts';

/**
 * Returns where a user logs in with another account and then goes on at `returnUrl`. It is at the
 * origin that holds logins.
 */
export function freshLogin(
  { realm, settings }: Pick<LoginFilter, 'realm' | 'settings'>,
  returnUrl: string,
): Link {
  const url = new URL(LOGIN_PATH, loginOrigin(settings.protectedOrigins));
  url.searchParams.set('realm', realm);
  url.searchParams.set('return', returnUrl);
  return { href: url.href, text: 'Log in as someone else' };
}

/**
 * Begins a login for which the provider asks for the user, though it knows one. The present session
 * ends only when the login has succeeded, because any site can send a browser here. The rule of the
 * page to go on at decides about it as if that page were asked for.
 */
export async function answerFreshLogin(
  candidates: readonly Protecting[],
  request: HttpRequest,
  signal: () => AbortSignal,
  ruleAt: RuleAt,
): Promise<GatewayAnswer> {
  if (request.method !== 'GET') return methodNotAllowed(request, 'GET');
  const query = new URL(request.target, 'http://gateway').searchParams;
  const candidate = candidates.find(
    ({ filter, place }) => place.holdsLogin && filter.realm === query.get('realm'),
  );
  if (candidate === undefined || !canLogIn(request))
    return failurePage(request, 400, 'There is no login to begin at this address.');
  const { filter, place } = candidate;
  const { protectedOrigins } = filter.settings;
  const returnUrl = protectedUrl(query.get('return') ?? '', protectedOrigins) ?? `${place.origin}/`;
  const given = argumentsAt(new URL(returnUrl), candidate, request, ruleAt);
  return begin(candidate, request, { returnUrl, given }, signal());
}

async function begin(
  { filter, place }: Protecting,
  request: HttpRequest,
  { given, returnUrl }: { readonly given: RuleArguments | undefined; readonly returnUrl: string },
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  const { loaded } = await presentedSession(filter, place, request);
  const session = loaded?.session;
  const scope = ['openid', ...(session?.asked ?? []), ...(given?.scope ?? [])];
  const need = {
    scope: [...new Set(scope)].sort(),
    sameSite: given === undefined ? session?.sameSite : given.sameSite,
    returnUrl,
    ...(loaded !== undefined && { replaces: loaded.key }),
  };
  const prompt = promptOf(await filter.provider.metadata(signal));
  return beginLogin(filter, { request, place, signal, prompt }, need, []);
}

/** Returns what the rule of a page says of this Filter, where the rule can be found. */
function argumentsAt(
  url: URL,
  { filter: { realm, settings }, place }: Protecting,
  request: HttpRequest,
  ruleAt: RuleAt,
): RuleArguments | undefined {
  const authority =
    url.origin === place.origin
      ? request.authority
      : internalAuthority(settings.protectedOrigins, url);
  if (authority === undefined) return undefined;
  const rule = ruleAt({ authority, target: url.pathname + url.search });
  return rule?.items.find(({ filter }) => realmOf(filter) === realm)?.arguments;
}

/** `filter` is `<namespace>/<name>`. */
function realmOf(filter: string): string {
  const [namespace, name] = filter.split('/', 2);
  return `${name}.${namespace}`;
}

/**
 * Each provider must know `login` (OpenID Connect Core section 15.1). Google's documents do not
 * have it.
 */
export function promptOf({
  issuer,
  prompt_values_supported: supported = [],
}: Pick<ProviderMetadata, 'issuer' | 'prompt_values_supported'>): string {
  const choosesAccount =
    supported.includes('select_account') || issuer === 'https://accounts.google.com';
  return choosesAccount ? 'select_account' : 'login';
}
