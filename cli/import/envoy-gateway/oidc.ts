import type { Fields } from '#resources/words/fields.ts';
import { fieldsAt, listAt, textAt } from '../fields-at.ts';
import { changed, closed, dropped, type Remark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';
import type { FilterPart } from './jwt.ts';

const AT = ['spec', 'oidc'] as const;

/** Returns the Filter that logs users in, for the origins of the routes that it covers. */
export function oidcFilter(policy: SourceObject, origins: readonly string[]): FilterPart {
  const oidc = fieldsAt(policy.fields, 'spec', 'oidc');
  const issuer = textAt(fieldsAt(oidc, 'provider'), 'issuer');
  const clientID = textAt(oidc, 'clientID');
  const secret = fieldsAt(oidc, 'clientSecret');
  const all = [...new Set([...redirectOrigin(oidc), ...origins])];
  const whyNot =
    issuer === undefined || clientID === undefined
      ? 'the issuer and the client ID are written into a Filter. Write one with `OAuth2`'
      : all.length === 0
        ? 'the origins of the application are not known: neither the routes nor their listeners have exact host names. Write a Filter with `protectedOrigins`'
        : oidc.passThroughAuthHeader === true
          ? 'requests with a token of their own need a FilterPolicy with a JWT Filter before the login'
          : undefined;
  if (whyNot !== undefined) return { remarks: [closed([...AT], whyNot)] };
  const namespace = textAt(secret, 'namespace') ?? policy.namespace;
  const spec = {
    OAuth2: {
      authorizationURL: issuer,
      clientID,
      secretName: textAt(secret, 'name') ?? '',
      ...(namespace === undefined ? {} : { secretNamespace: namespace }),
      protectedOrigins: all.map(origin => ({ origin })),
    },
  };
  return { spec, remarks: remarksOf(oidc, all) };
}

function redirectOrigin(oidc: Fields): readonly string[] {
  const [origin] = /^https?:\/\/[^/%]+/.exec(textAt(oidc, 'redirectURL') ?? '') ?? [];
  return origin === undefined ? [] : [origin];
}

function remarksOf(oidc: Fields, origins: readonly string[]): readonly Remark[] {
  const secret =
    'the Secret needs the value under the key `oauth2-client-secret` too. Until then the answer is 500';
  const callback = `register ${origins.map(origin => `${origin}/.gateway/oauth2/redirection-endpoint`).join(', ')} with the provider`;
  return [
    changed([...AT, 'clientSecret'], secret),
    changed([...AT, 'redirectURL'], callback),
    ...LOST.filter(([field]) => oidc[field] !== undefined).map(([field, why]) =>
      dropped([...AT, field], why),
    ),
    ...(oidc.forwardAccessToken === true
      ? []
      : [
          changed(
            [...AT, 'forwardAccessToken'],
            'services get the access token in `Authorization`',
          ),
        ]),
    ...(listAt(oidc, 'scopes').length === 0 ? [] : [changed([...AT, 'scopes'], SCOPES)]),
  ];
}

const SCOPES =
  'only `openid` is asked for. Write `arguments.scope` into the FilterPolicy. A token must then have these scopes';

const LOST: readonly (readonly [field: string, why: string])[] = [
  ['cookieNames', 'cookies are named after the Filter'],
  [
    'cookieDomain',
    'a session is for one origin. Write `includeSubdomains` into `protectedOrigins`',
  ],
  ['cookieConfig', 'write `arguments.sameSite` into a FilterPolicy'],
  ['resources', 'write `extraAuthorizationParameters` into the Filter'],
  ['denyRedirect', 'what cannot show a login gets 401. Write `insteadOfRedirect` for more'],
  ['logoutPath', 'users log out by a form that is sent to `/.gateway/oauth2/logout`'],
  ['forwardIDToken', 'write `injectRequestHeaders` into the Filter, with `{{ .idToken.Raw }}`'],
];
