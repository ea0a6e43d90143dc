import type { TokenEndpointResponse } from 'openid-client';
import { parseExpiresIn } from './expires-in.ts';
import { type ProviderAnswer, placeOf } from './http-client.ts';
import type { IdToken } from './id-token.ts';
import { isJsonObject, type JsonObject, readJson } from './json-answer.ts';
import { ProviderError } from './provider-error.ts';
import { refusalOf } from './provider-refusal.ts';

/** What a token endpoint granted (RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3). */
export type TokenSet = {
  /** In any form. `isAccessTokenForm` judges it. */
  readonly accessToken: string;
  readonly tokenType: 'Bearer';
  /** Whole seconds, at least 1. Undefined when the provider does not say. */
  readonly expiresInSeconds: number | undefined;
  /** What was granted. Undefined means what was asked for. */
  readonly scope: readonly string[] | undefined;
  readonly refreshToken?: string;
  readonly idToken?: IdToken;
};

/** A token answer before its ID token is validated. */
export type RawTokens = Omit<TokenSet, 'idToken'> & { readonly idToken?: string };

const WHAT = 'the token endpoint';
const OPTIONAL = ['refresh_token', 'scope', 'id_token'] as const;

/**
 * Reads one answer of a token endpoint, in two steps around the library. `read` makes what the
 * library is given. It leaves out what the library would refuse or judge in its own way
 * (`expires_in` of odd kinds, the ID token). `toTokens` adds that again to what the library made of
 * it.
 */
export function tokenReader(): {
  readonly read: (answer: ProviderAnswer, url: string, secrets: readonly string[]) => JsonObject;
  readonly toTokens: (response: TokenEndpointResponse) => RawTokens;
} {
  let kept: JsonObject = {};
  return {
    read: (answer, url, secrets) => {
      kept = readTokenAnswer(answer, url, secrets);
      const { expires_in, id_token, ...rest } = kept;
      return rest;
    },
    toTokens: response => toTokens(response, kept),
  };
}

function readTokenAnswer(
  answer: ProviderAnswer,
  url: string,
  secrets: readonly string[],
): JsonObject {
  const asked = { what: WHAT, url };
  const refusal = refusalOf(answer, asked, { secrets, unsaid: 'invalid_client' });
  if (refusal !== undefined) throw refusal;
  const json = readJson(answer, asked);
  if (!isJsonObject(json))
    throw new ProviderError(
      'invalid_answer',
      `${placeOf(asked)}: the answer is not a JSON object`,
      answer,
    );
  if (json.access_token === undefined) throw noAccessToken(answer, asked);
  return withoutEmpty(withScopeText(json));
}

/** Azure AD B2C gives one only where a scope of an API is asked for. */
function noAccessToken(
  answer: ProviderAnswer,
  asked: { readonly what: string; readonly url: string },
) {
  const text =
    'has no `access_token`. Some providers return one only for a `scope` of an API, see the FilterPolicy';
  return new ProviderError('invalid_answer', `${placeOf(asked)}: the answer ${text}`, {
    status: answer.status,
  });
}

/** RFC 6749 section 5.1 has a text, but Twitch sends a list of values. */
function withScopeText(json: JsonObject): JsonObject {
  const { scope } = json;
  const isList = Array.isArray(scope) && scope.every(value => typeof value === 'string');
  return isList ? { ...json, scope: scope.join(' ') } : json;
}

/**
 * RFC 6749 section 5.1 has these members optional. Providers that have none of them send null or an
 * empty text.
 */
function withoutEmpty(json: JsonObject): JsonObject {
  const empty = OPTIONAL.filter(
    name => json[name] === null || (json[name] === '' && name !== 'scope'),
  );
  return Object.fromEntries(
    Object.entries(json).filter(([name]) => !empty.some(other => other === name)),
  );
}

function toTokens(
  response: TokenEndpointResponse,
  { expires_in, id_token }: JsonObject,
): RawTokens {
  if (response.token_type !== 'bearer') throw notBearer();
  if (id_token !== undefined && typeof id_token !== 'string') {
    throw new ProviderError('invalid_id_token', `${WHAT}: the \`id_token\` is not a string`);
  }
  return {
    accessToken: response.access_token,
    tokenType: 'Bearer',
    expiresInSeconds: parseExpiresIn(expires_in),
    scope: response.scope?.split(/ +/).filter(value => value !== ''),
    ...(response.refresh_token !== undefined && { refreshToken: response.refresh_token }),
    ...(id_token !== undefined && { idToken: id_token }),
  };
}

/** A token of an unknown type is not used (RFC 6750 section 4, RFC 6749 section 7.1). */
function notBearer(): ProviderError {
  return new ProviderError('invalid_answer', `${WHAT}: the token's type is not Bearer`);
}
