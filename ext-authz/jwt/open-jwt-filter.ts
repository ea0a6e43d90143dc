import { UnsecuredJWT } from 'jose';
import type { GoStruct } from '#resources/template/go-value.ts';
import type { RunnableFilter } from '../filter-runner.ts';
import type { FilterDefinition, JwtSettings } from '../filter-settings.ts';
import type { HttpRequest } from '../http-request.ts';
import type { Outcome } from '../outcome.ts';
import { openHttpClient } from '../provider/http-client.ts';
import { isJsonObject } from '../provider/json-answer.ts';
import { openKeys } from '../provider/provider-documents.ts';
import { type SignatureFault, verifySignature } from '../provider/signed-jwt.ts';
import { bearerToken } from './bearer-token.ts';
import { claimFault, scopeClaim } from './claims.ts';
import { renderHeaders, requestData } from './inject-headers.ts';
import { type Refusal, refusalAnswer } from './refusal.ts';
import {
  type KeySource,
  toVerified,
  type VerifiedToken,
  VerifiedTokens,
  type VerifiedTokensOptions,
} from './verified-tokens.ts';

/** What a JWT filter makes of a token: it is valid, it is not, or it lacks scope values. `reason` is ASCII and has nothing of the token. */
export type JwtVerdict =
  | { readonly kind: 'valid'; readonly token: VerifiedToken }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'insufficient_scope' };

/** A JWT filter in force. Also judges access tokens for OAuth2 filters (document 1, `accessTokenJWTFilter`). */
export type JwtFilter = RunnableFilter & {
  readonly type: 'JWT';
  /** Judges a token for the scope. Rejects with a ProviderError when the keys cannot be had. */
  readonly judge: (token: string, scope: readonly string[]) => JwtVerdict | Promise<JwtVerdict>;
  /** What its `injectRequestHeaders` give for the data of a token. Throws a TemplateFault. */
  readonly headers: (token: () => GoStruct, request: HttpRequest) => Map<string, string>;
  readonly close: () => Promise<void>;
};

type JwtDefinition = Extract<FilterDefinition, { readonly type: 'JWT' }>;

/** Opens a JWT filter (decisions, "JWT filter"). Nothing is asked before the first token. */
export function openJwtFilter(
  { realm, settings }: Pick<JwtDefinition, 'realm' | 'settings'>,
  options: VerifiedTokensOptions,
): JwtFilter {
  const { close, verify } = openVerifier(settings, options);
  const judge = (raw: string, scope: readonly string[]) => {
    const token = verify(raw);
    const decide = (verified: VerifiedToken | SignatureFault) =>
      judgeToken(verified, scope, settings, options.now());
    return token instanceof Promise ? token.then(decide) : decide(token);
  };
  const headers = (token: () => GoStruct, request: HttpRequest) =>
    renderHeaders(settings.injectRequestHeaders, () => requestData({ token: token() }, request.headers), {
      realm,
      field: 'injectRequestHeaders',
    });
  const refuse = (request: HttpRequest, refusal: Refusal): Outcome => ({
    kind: 'answer',
    answer: refusalAnswer(request, refusal, settings.errorResponse, realm),
  });
  const settle = (request: HttpRequest, verdict: JwtVerdict, scope: readonly string[]): Outcome => {
    if (verdict.kind === 'invalid') return refuse(request, { kind: 'invalid_token', reason: verdict.reason });
    if (verdict.kind === 'insufficient_scope') return refuse(request, { kind: verdict.kind, scope });
    const set = headers(verdict.token.data, request);
    return { kind: 'allow', change: { set, remove: new Set(), responseHeaders: [] } };
  };
  return {
    type: 'JWT',
    injects: new Set(settings.injectRequestHeaders.map(({ name }) => name)),
    run: (request, { arguments: { scope = [] } }) => {
      const bearer = bearerToken(request.headers);
      if (bearer === 'missing') return refuse(request, { kind: 'no_token' });
      if (bearer === 'malformed') return refuse(request, { kind: 'invalid_request', reason: MALFORMED });
      const verdict = judge(bearer.token, scope);
      if (!(verdict instanceof Promise)) return settle(request, verdict, scope);
      return verdict.then(settled => settle(request, settled, scope));
    },
    judge,
    headers,
    close,
  };
}

const MALFORMED = 'the Authorization field is not one bearer token';

type Verifier = {
  readonly verify: (raw: string) => VerifiedToken | SignatureFault | Promise<VerifiedToken | SignatureFault>;
  readonly close: () => Promise<void>;
};

/** A token without signature is one only where `validAlgorithms` has `none`. */
function openVerifier(settings: JwtSettings, options: VerifiedTokensOptions): Verifier {
  const { jwksURI, maxStale, validAlgorithms } = settings;
  const signed = validAlgorithms.filter(algorithm => algorithm !== 'none');
  const unsecured = signed.length < validAlgorithms.length;
  if (jwksURI === undefined || signed.length === 0)
    return { verify: raw => readUnsecured(raw) ?? 'algorithm', close: async () => {} };
  const client = openHttpClient(settings);
  const document = openKeys(client, jwksURI, { maxStale, now: options.now });
  const source: KeySource = {
    verify: (jwt, signal) => verifySignature(jwt, signed, document, signal),
    keySet: signal => document.get(signal),
    knownKeySet: () => document.known(),
  };
  const tokens = new VerifiedTokens(source, options);
  return {
    verify: raw => (unsecured ? readUnsecured(raw) : undefined) ?? tokens.verify(raw),
    close: client.close,
  };
}

/** An Unsecured JWT (RFC 7519 section 6); undefined: it is none. jose's judgement of times is put aside: `claimFault` has it. */
function readUnsecured(raw: string): VerifiedToken | undefined {
  if (!raw.endsWith('.')) return undefined;
  try {
    const { header, payload } = UnsecuredJWT.decode(raw, { clockTolerance: Number.MAX_SAFE_INTEGER });
    return isJsonObject(header) ? toVerified({ raw, header, claims: payload }) : undefined;
  } catch {
    return undefined;
  }
}

const FAULTS = {
  malformed: 'the token is not a signed JWT',
  algorithm: 'the token is signed with an algorithm that is not allowed',
  unknown_key: 'the token is signed with an unknown key',
  signature: 'the signature of the token is wrong',
} as const;

/** Each value of `scope` must be in the token's. */
function judgeToken(
  token: VerifiedToken | SignatureFault,
  scope: readonly string[],
  settings: JwtSettings,
  now: number,
): JwtVerdict {
  if (typeof token === 'string') return { kind: 'invalid', reason: FAULTS[token] };
  const reason = claimFault(token.claims, settings, now);
  if (reason !== undefined) return { kind: 'invalid', reason };
  const granted = scope.length === 0 ? [] : (scopeClaim(token.claims) ?? []);
  return scope.every(value => granted.includes(value))
    ? { kind: 'valid', token }
    : { kind: 'insufficient_scope' };
}
