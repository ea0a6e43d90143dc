import * as z from 'zod';
import { filterHeaders } from '#resources/template/header-template.ts';
import { duration } from '#resources/words/duration.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { httpBase } from '#resources/words/http-url.ts';
import { type Parsed, parsedString } from '#resources/words/parsed-string.ts';
import { jwtArguments } from '#resources/words/scope.ts';
import { suggest } from '#resources/words/suggest.ts';
import { whenRight } from '#resources/words/when-right.ts';
import { clientSecret } from './client-secret.ts';
import { clientAuthentication } from './filter-oauth2-client.ts';
import { authorizationCodeShape } from './filter-oauth2-login.ts';
import { providerClientShape } from './provider-client.ts';

const VALIDATIONS = ['auto', 'jwt', 'userinfo'] as const;
const VALIDATION_FORM = VALIDATIONS.map(word => `\`${word}\``).join(', ');

const clientShape = {
  authorizationURL: httpBase.describe(
    "The provider: where `/.well-known/openid-configuration` is found. As written in the provider's `issuer`",
  ),
  grantType: z
    .enum(['AuthorizationCode', 'Password', 'ClientCredentials'])
    .default('AuthorizationCode')
    .describe('How an access token is obtained. It decides which other settings have an effect'),
  expirationSafetyMargin: duration
    .prefault('0')
    .describe(
      'An access token that expires within it counts as expired. If tokens live no longer, each request gets a new one, and no login without a refresh token succeeds',
    ),
  clientAuthentication: clientAuthentication
    .prefault({})
    .describe('How the gateway authenticates to the provider'),
  clientID: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Client ID. Required unless grantType is `ClientCredentials`'),
  secret: clientSecret
    .exactOptional()
    .describe(
      'Client secret. This or `secretName` is required unless grantType is `ClientCredentials`',
    ),
  secretName: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Name of a Secret that has the client secret under the key `oauth2-client-secret`'),
  secretNamespace: z
    .string()
    .min(1)
    .exactOptional()
    .describe("Namespace of that Secret. Default: the Filter's"),
};

const accessTokenJWTFilter = z.object({
  name: z.string().min(1).describe('Name of a Filter with `spec.JWT`'),
  namespace: z.string().min(1).exactOptional().describe("Its namespace. Default: this Filter's"),
  inheritScopeArgument: falseByDefault.describe(
    "Use the `scope` of the FilterPolicy's rule too, but for `openid` and `offline_access`",
  ),
  stripInheritedScope: falseByDefault.describe(
    'Cut inherited values up to their last `/`. Only with `inheritScopeArgument`',
  ),
  arguments: jwtArguments.prefault({}).describe('As where a FilterPolicy refers to a JWT filter'),
});

const resourceServerShape = {
  allowMalformedAccessToken: falseByDefault.describe(
    'Accept access tokens that RFC 6750 does not allow',
  ),
  accessTokenValidation: parsedString(`one of ${VALIDATION_FORM}`, parseValidation)
    .prefault('auto')
    .describe(
      'As a JWT, or by asking the provider for each request. `auto`: as a JWT where it is one',
    ),
  accessTokenJWTFilter: accessTokenJWTFilter
    .exactOptional()
    .describe(
      'The Filter that validates access tokens as JWT. Not with accessTokenValidation `userinfo`',
    ),
  injectRequestHeaders: filterHeaders.describe(
    'Headers set on the request before it goes upstream',
  ),
};

/** An empty value counts as unset. */
function parseValidation(text: string): Parsed<(typeof VALIDATIONS)[number]> {
  const word = text === '' ? 'auto' : VALIDATIONS.find(candidate => candidate === text);
  if (word !== undefined) return { value: word };
  const shown = text.slice(0, 80);
  return {
    error: `${JSON.stringify(shown)} is none of ${VALIDATION_FORM}${suggest(shown, VALIDATIONS)}`,
  };
}

const settings = z.object({
  ...clientShape,
  ...authorizationCodeShape,
  ...resourceServerShape,
  ...providerClientShape,
});

export type OAuth2Spec = z.output<typeof settings>;

/**
 * Settings of an OAuth2 filter (docs/reference/kinds/filter.md). Durations are in milliseconds.
 * Every grant type but ClientCredentials has a `clientID`, and `secret` or `secretName`.
 * AuthorizationCode has `protectedOrigins` or `clientURL`.
 */
export const oauth2 = settings
  .refine(
    ({ grantType, clientID }) => grantType === 'ClientCredentials' || clientID !== undefined,
    {
      path: ['clientID'],
      error: '`clientID` is required: a string',
      when: whenRight('grantType', 'clientID'),
    },
  )
  .refine(
    ({ grantType, secret, secretName }) =>
      grantType === 'ClientCredentials' || (secret ?? secretName) !== undefined,
    {
      path: ['secret'],
      error:
        '`secret` or `secretName` is required: the client secret, or the name of the Secret that has it',
      when: whenRight('grantType', 'secret', 'secretName'),
    },
  )
  .refine(
    ({ grantType, clientURL, protectedOrigins }) =>
      grantType !== 'AuthorizationCode' || (clientURL ?? protectedOrigins) !== undefined,
    {
      path: ['protectedOrigins'],
      error: '`protectedOrigins` is required: a list of at least one origin',
      when: whenRight('grantType', 'clientURL', 'protectedOrigins'),
    },
  )
  .meta({ partial: true });

export type AccessTokenJWTFilter = z.output<typeof accessTokenJWTFilter>;
