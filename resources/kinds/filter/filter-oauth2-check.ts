import { caution, checkNegative, type Finding, fault } from '#resources/finding.ts';
import { checkHeaders, OAUTH2_DATA } from '#resources/template/template-vocabulary.ts';
import type { OAuth2Spec } from './filter-oauth2.ts';
import { checkClient } from './filter-oauth2-client-check.ts';
import { checkOpen, checkOrigins } from './filter-oauth2-origins.ts';
import { checkProviderClient } from './provider-client.ts';

type Written = Partial<OAuth2Spec>;

/**
 * Checks the rules between the settings of an OAuth2 filter. Settings that are wrong by themselves
 * are missing.
 */
export function checkOAuth2(spec: Written): readonly Finding[] {
  return [
    ...checkProvider(spec),
    ...checkGrant(spec),
    ...checkClient(spec),
    ...checkNegative(['expirationSafetyMargin'], spec.expirationSafetyMargin),
    ...checkValidation(spec),
    ...checkHeaders(spec.injectRequestHeaders ?? [], OAUTH2_DATA, ['injectRequestHeaders']),
    ...checkProviderClient(spec, 'authorizationURL', spec.authorizationURL),
  ];
}

/** The path that is appended to it is often copied with it. */
function checkProvider({ authorizationURL }: Written): readonly Finding[] {
  const [document] = /\/\.well-known(?:\/.*)?$/.exec(authorizationURL ?? '') ?? [];
  if (document === undefined) return [];
  const wanted = `\`authorizationURL\` is the provider's issuer, without ${JSON.stringify(document)}`;
  return [fault(['authorizationURL'], wanted)];
}

function checkGrant(spec: Written): readonly Finding[] {
  if (spec.grantType === undefined) return [];
  return spec.grantType === 'AuthorizationCode'
    ? checkOriginFields(spec)
    : checkUnused(spec, spec.grantType);
}

function checkOriginFields({ clientURL, protectedOrigins }: Written): readonly Finding[] {
  if (clientURL === undefined) return checkOrigins(protectedOrigins ?? []);
  const replacement = caution(
    ['clientURL'],
    '`clientURL` is deprecated. Write `protectedOrigins` with one item of this `origin` and internalOrigin `*://*`',
  );
  const twice =
    protectedOrigins === undefined
      ? []
      : [
          fault(
            ['clientURL'],
            '`clientURL` and `protectedOrigins` exclude each other. Keep `protectedOrigins`',
          ),
        ];
  return [
    replacement,
    ...twice,
    ...checkOpen(clientURL, ['clientURL']),
    ...checkOrigins(protectedOrigins ?? []),
  ];
}

/**
 * Warns of settings that belong to another grant type. Those with a default are reported when they
 * differ from it.
 */
function checkUnused(spec: Written, grantType: string): readonly Finding[] {
  const cookies = spec.useSessionCookies;
  const unused = {
    clientURL: spec.clientURL !== undefined,
    protectedOrigins: spec.protectedOrigins !== undefined,
    useSessionCookies: cookies?.value === true || cookies?.ifRequestHeader !== undefined,
    extraAuthorizationParameters: Object.keys(spec.extraAuthorizationParameters ?? {}).length > 0,
    decisionCache: spec.decisionCache !== undefined,
    postLogoutRedirectURI: spec.postLogoutRedirectURI !== undefined,
    clientSessionMaxIdle:
      spec.clientSessionMaxIdle !== undefined && spec.clientSessionMaxIdle !== DEFAULT_MAX_IDLE,
  };
  return Object.entries(unused).flatMap(([name, set]) =>
    set
      ? [
          caution(
            [name],
            `\`${name}\` has no effect: grantType is \`${grantType}\`, not \`AuthorizationCode\``,
          ),
        ]
      : [],
  );
}

const DEFAULT_MAX_IDLE = 14 * 24 * 3_600_000;

function checkValidation({
  accessTokenJWTFilter: filter,
  accessTokenValidation,
}: Written): readonly Finding[] {
  if (filter === undefined) return [];
  const strip = ['accessTokenJWTFilter', 'stripInheritedScope'];
  return [
    ...(accessTokenValidation === 'userinfo'
      ? [
          fault(
            ['accessTokenJWTFilter'],
            '`accessTokenJWTFilter` and accessTokenValidation `userinfo` exclude each other',
          ),
        ]
      : []),
    ...(filter.stripInheritedScope && !filter.inheritScopeArgument
      ? [caution(strip, '`stripInheritedScope` has no effect without `inheritScopeArgument`')]
      : []),
  ];
}
