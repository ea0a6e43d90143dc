import { errors, jwtVerify } from 'jose';
import { fetchUserInfo, skipSubjectCheck } from 'openid-client';
import type { CachedDocument } from './cached-document.ts';
import { type HttpClient, type ProviderAnswer, placeOf } from './http-client.ts';
import { isJsonObject, type JsonObject, mediaTypeOf, readJson } from './json-answer.ts';
import type { KeySet } from './key-set.ts';
import { callLibrary } from './library-call.ts';
import { ProviderError } from './provider-error.ts';
import { servesNobody } from './provider-health.ts';
import type { ProviderListener } from './provider-listener.ts';
import { endpointOf, type ProviderMetadata } from './provider-metadata.ts';
import { refusalOf } from './provider-refusal.ts';
import { ASYMMETRIC_ALGORITHMS, verifySignature } from './signed-jwt.ts';

export type UserinfoRequest = {
  readonly client: HttpClient;
  readonly metadata: ProviderMetadata;
  /** Called only when the answer is signed. */
  readonly keys: () => Promise<CachedDocument<KeySet>>;
  readonly clientID: string | undefined;
  readonly accessToken: string;
  /** `sub` of the ID token. Undefined when there is none. */
  readonly subject: string | undefined;
  /** ms since the epoch */
  readonly now: number;
  /** Hears whether the endpoint serves anybody. */
  readonly heard: ProviderListener | undefined;
  readonly signal: AbortSignal;
};

const WHAT = 'the userinfo endpoint';

/**
 * Returns what the provider says of the user whose access token this is (OpenID Connect Core
 * section 5.3), signed or not. Its `sub` is present and equals `subject`. Rejects with a
 * ProviderError: `oauth_error` (`invalid_token` on a bare 401), `subject_mismatch` and others.
 */
export async function requestUserinfo(request: UserinfoRequest): Promise<JsonObject> {
  const { accessToken, heard } = request;
  if (!/^[\x20-\x7e\x80-\xff]+$/.test(accessToken)) {
    throw new ProviderError(
      'invalid_answer',
      `${WHAT}: the access token cannot be sent in a header`,
    );
  }
  try {
    const claims = await ask(request);
    heard?.('userinfo', undefined);
    return claims;
  } catch (error) {
    heard?.('userinfo', error instanceof ProviderError && servesNobody(error) ? error : undefined);
    throw error;
  }
}

async function ask(request: UserinfoRequest): Promise<JsonObject> {
  const { accessToken, client, clientID, metadata, signal, subject } = request;
  endpointOf(metadata, 'userinfo_endpoint');
  const read = (answer: ProviderAnswer, url: string, secrets: readonly string[]) =>
    readUserinfo(answer, { what: WHAT, url }, secrets, request);
  return callLibrary(
    { client, metadata, clientID, authentication: () => {}, what: WHAT, read, signal },
    config => fetchUserInfo(config, accessToken, subject ?? skipSubjectCheck),
  );
}

async function readUserinfo(
  answer: ProviderAnswer,
  asked: { readonly what: string; readonly url: string },
  secrets: readonly string[],
  request: UserinfoRequest,
): Promise<JsonObject> {
  const refusal = refusalOf(asUnauthorized(answer), asked, { secrets, unsaid: 'invalid_token' });
  if (refusal !== undefined) throw refusal;
  const signed = mediaTypeOf(answer.headers) === 'application/jwt';
  const claims = signed ? await readSigned(answer, asked, request) : readJson(answer, asked);
  if (!isJsonObject(claims))
    throw new ProviderError(
      'invalid_answer',
      `${placeOf(asked)}: the answer is not a JSON object`,
      answer,
    );
  if (request.subject !== undefined && claims.sub !== request.subject) {
    throw new ProviderError(
      'subject_mismatch',
      `${placeOf(asked)}: its \`sub\` is not that of the ID token`,
    );
  }
  return claims;
}

/**
 * Salesforce answers in a text about a token that has expired or was revoked, where RFC 6750
 * section 3.1 has a 401.
 */
function asUnauthorized(answer: ProviderAnswer): ProviderAnswer {
  return answer.status === 403 && answer.text.trim() === 'Bad_OAuth_Token'
    ? { ...answer, status: 401 }
    : answer;
}

/** `iss` and `aud`, where present, are the provider's and the client's (Core section 5.3.2). */
async function readSigned(
  { text }: ProviderAnswer,
  asked: { readonly what: string; readonly url: string },
  { clientID, keys, metadata, now, signal }: UserinfoRequest,
): Promise<JsonObject> {
  const token = await verifySignature(text, ASYMMETRIC_ALGORITHMS, await keys(), signal);
  const invalid = new ProviderError(
    'invalid_answer',
    `${placeOf(asked)}: the signed answer is not valid`,
  );
  if (typeof token === 'string') throw invalid;
  const { aud, iss } = token.claims;
  try {
    await jwtVerify(token.raw, token.key, {
      ...(iss !== undefined && { issuer: metadata.issuer }),
      ...(aud !== undefined && clientID !== undefined && { audience: clientID }),
      clockTolerance: 30,
      currentDate: new Date(now),
    });
  } catch (error) {
    throw error instanceof errors.JOSEError ? invalid : error;
  }
  return token.claims;
}
