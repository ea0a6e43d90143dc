import type { FilterRunner, RunnableFilter } from '#ext-authz/chain/filter-runner.ts';
import type { FilterDecision } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { FilterDefinition, JwtSettings } from '#ext-authz/policy/filter-settings.ts';
import type { KeySet } from '#ext-authz/provider/key-set.ts';
import type { SignatureFault } from '#ext-authz/provider/signed-jwt.ts';
import type { GoStruct } from '#resources/template/go-type.ts';
import { bearerToken } from './bearer-token.ts';
import { claimFault, scopeOrScp } from './claims.ts';
import { type AskedRequest, renderHeaders, requestData } from './inject-headers.ts';
import { type JwtVerifier, type JwtVerifierOptions, openJwtVerifier } from './jwt-verifier.ts';
import { type JwtRefusal, refusalAnswer, wordedFault } from './refusal.ts';
import type { VerifiedToken } from './verified-tokens.ts';

/**
 * The judgement of a JWT filter: a token is valid, it is not, or it lacks scope values. `reason` is
 * ASCII and has nothing of the token.
 */
export type JwtVerdict =
  | { readonly kind: 'valid'; readonly token: VerifiedToken }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'insufficient_scope'; readonly missing: readonly string[] };

/**
 * A JWT filter in force. It also judges access tokens for OAuth2 filters
 * (docs/reference/kinds/filter.md).
 */
export type JwtFilter = RunnableFilter & {
  readonly type: 'JWT';
  /** Judges a token for the scope. Rejects with a ProviderError when the keys are not available. */
  readonly judge: (token: string, scope: readonly string[]) => JwtVerdict | Promise<JwtVerdict>;
  /**
   * Renders its `injectRequestHeaders` for the data of a token, and for the request's headers if a
   * template reads them. Throws a TemplateFault.
   */
  readonly headers: (token: () => GoStruct, asked: () => AskedRequest) => Map<string, string>;
  /** Asks for the keys before a request needs them. Rejects with a ProviderError. */
  readonly look: (signal: AbortSignal) => Promise<void>;
  /** Returns the keys that were known last, without asking. */
  readonly knownKeySet: () => KeySet | undefined;
  readonly signingKeys: JwtVerifier['signingKeys'];
  readonly close: () => Promise<void>;
};

type JwtDefinition = Extract<FilterDefinition, { readonly type: 'JWT' }>;

/**
 * Opens a JWT filter (docs/reference/kinds/filter.md). It asks for nothing before the first token.
 */
export function openJwtFilter(
  { realm, settings }: Pick<JwtDefinition, 'realm' | 'settings'>,
  options: JwtVerifierOptions,
): JwtFilter {
  const { close, knownKeySet, look, signingKeys, verify } = openJwtVerifier(settings, options);
  const judge = (raw: string, scope: readonly string[]) => {
    const token = verify(raw);
    const decide = (verified: VerifiedToken | SignatureFault) =>
      judgeToken(verified, scope, settings, options.now());
    return token instanceof Promise ? token.then(decide) : decide(token);
  };
  const headers = (token: () => GoStruct, asked: () => AskedRequest) =>
    renderHeaders(settings.injectRequestHeaders, () => requestData({ token: token() }, asked), {
      realm,
      field: 'injectRequestHeaders',
    });
  const refuse = (request: HttpRequest, refusal: JwtRefusal): FilterDecision => ({
    kind: 'answer',
    answer: refusalAnswer(request, refusal, settings.errorResponse, realm),
  });
  const settle = (
    request: HttpRequest,
    verdict: JwtVerdict,
    scope: readonly string[],
  ): FilterDecision => {
    if (verdict.kind === 'invalid')
      return refuse(request, { kind: 'invalid_token', reason: verdict.reason });
    if (verdict.kind === 'insufficient_scope') return refuse(request, { ...verdict, scope });
    const set = headers(verdict.token.data, () => request);
    return { kind: 'allow', change: { set, remove: new Set(), responseHeaders: [] } };
  };
  const run: FilterRunner = (request, { arguments: { scope = [] } }) => {
    const bearer = bearerToken(request.headers);
    if (bearer === 'missing') return refuse(request, { kind: 'no_token' });
    if (bearer === 'malformed')
      return refuse(request, { kind: 'invalid_request', reason: MALFORMED });
    const verdict = judge(bearer.token, scope);
    if (!(verdict instanceof Promise)) return settle(request, verdict, scope);
    return verdict.then(settled => settle(request, settled, scope));
  };
  const injects = new Set(settings.injectRequestHeaders.map(({ name }) => name));
  return {
    type: 'JWT',
    injects,
    run: wordingFaults(run, settings.errorResponse, realm),
    judge,
    headers,
    look,
    knownKeySet,
    signingKeys,
    close,
  };
}

/** Words faults by `errorResponse` too. */
function wordingFaults(
  run: FilterRunner,
  errorResponse: JwtSettings['errorResponse'],
  realm: string,
): FilterRunner {
  return (request, ...rest) => {
    const fail = (error: unknown): never => {
      throw wordedFault(request, error, errorResponse, realm);
    };
    try {
      const outcome = run(request, ...rest);
      return outcome instanceof Promise ? outcome.catch(fail) : outcome;
    } catch (error) {
      return fail(error);
    }
  };
}

const MALFORMED = 'the Authorization field is not one bearer token';

const FAULTS = {
  malformed: 'the token is not a signed JWT',
  algorithm: 'the token is signed with an algorithm that is not allowed',
  unknown_key: 'the token is signed with an unknown key',
  signature: 'the signature of the token is wrong',
} as const;

/**
 * Requires each value of `scope` in the token's `scope`, or in its `scp` when it has no `scope`.
 */
function judgeToken(
  token: VerifiedToken | SignatureFault,
  scope: readonly string[],
  settings: JwtSettings,
  now: number,
): JwtVerdict {
  if (typeof token === 'string') return { kind: 'invalid', reason: FAULTS[token] };
  const reason = claimFault(token.claims, settings, now);
  if (reason !== undefined) return { kind: 'invalid', reason };
  const granted = scope.length === 0 ? [] : scopeOrScp(token.claims);
  const missing = scope.filter(value => !granted.includes(value));
  return missing.length === 0 ? { kind: 'valid', token } : { kind: 'insufficient_scope', missing };
}
