import type { KeyObject } from 'node:crypto';
import type { FilterRunner } from '#ext-authz/chain/filter-runner.ts';
import { answerPage } from '#ext-authz/http/answer-page.ts';
import type { FilterDecision } from '#ext-authz/http/filter-decision.ts';
import type { HeaderFields, HttpRequest } from '#ext-authz/http/http-request.ts';
import type { FilterDefinition } from '#ext-authz/policy/filter-settings.ts';
import type { Provider } from '#ext-authz/provider/provider.ts';
import type { ProviderListener } from '#ext-authz/provider/provider-listener.ts';
import { providerTime } from '#ext-authz/provider/provider-time.ts';
import type { TokenSet } from '#ext-authz/provider/token-answer.ts';
import { waitFor } from '#ext-authz/provider/wait-for.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { type RandomBytes, sealOfCredentials } from '#ext-authz/store/sealed-record.ts';
import { addressNetwork } from '#resources/words/address-network.ts';
import type { Brought, NoCredentials } from './credential-headers.ts';
import { hearToken, type TokenHearer } from './heard-token.ts';
import { type Obtained, TokenObtainer, type Wanted } from './obtain-token.ts';
import type { RefusedCredentials } from './refused-credentials.ts';
import type { AnyResourceServer, TokenVerdict } from './resource-server.ts';
import { missingScope, requestedScope } from './scope.ts';
import { type GrantedToken, TokenCache } from './token-cache.ts';

/** A Filter of type OAuth2. */
export type OAuth2Definition = Extract<FilterDefinition, { readonly type: 'OAuth2' }>;

/** One client may have every address of a /64 (RFC 6177). */
const CLIENT_NETWORK = { ipv4: 32, ipv6: 64 } as const;

/** What a Filter whose requests bring credentials works with. */
export type CredentialFilterParts = {
  readonly provider: Pick<Provider, 'password' | 'clientCredentials'>;
  readonly resourceServer: AnyResourceServer;
  readonly store: RecordStore;
  readonly storeKey: KeyObject;
  /** Shared by all Filters. */
  readonly refusals: RefusedCredentials;
  /** ms since the epoch */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  /**
   * Returns a signal that aborts when the time for the provider is up. It is shorter than a
   * check's, so that the answer is 504.
   */
  readonly deadline: () => AbortSignal;
  /** Hears how new access tokens are judged. */
  readonly heard?: ProviderListener | undefined;
};

/** How one grant differs from others. `C` is what the provider gets. */
export type CredentialGrant<C> = {
  readonly read: (headers: HeaderFields) => Brought<C> | NoCredentials;
  readonly ask: (
    credentials: C,
    scope: readonly string[],
    signal: AbortSignal,
  ) => Promise<TokenSet>;
  /** The error codes (RFC 6749 section 5.2) by which the provider refuses the credentials. */
  readonly refusedBy: readonly string[];
};

/**
 * Opens the OAuth2 filter of a grant whose requests bring credentials as headers. It gets a token
 * for them, validates it and lets the request pass with it. It never redirects. See
 * docs/reference/kinds/filter.md.
 */
export function credentialFilter<C>(
  definition: OAuth2Definition,
  grant: CredentialGrant<C>,
  parts: CredentialFilterParts,
): FilterRunner {
  const cache = new TokenCache(parts);
  const obtainer = new TokenObtainer({ ...parts, cache, refusedBy: grant.refusedBy });
  const { heard, refusals, resourceServer } = parts;
  const hearer = { heard, settings: definition.settings };
  return (request, { arguments: { scope: listed } }, context) => {
    const brought = grant.read(request.headers);
    if ('error' in brought) return forbid(request, brought.error);
    const scope = requestedScope(listed);
    const wanted = wantedOf(definition, grant, brought, {
      request,
      scope,
      storeKey: parts.storeKey,
    });
    const signal = providerTime(() => context.signal(), parts.deadline);
    const visit = { request, scope, wanted, obtainer, resourceServer, hearer, signal };
    const token = cache.known(wanted.seal);
    const blocked = refusals.blockedBy(wanted.attempt);
    if (blocked?.by === 'name') return refuse(request, blocked.limited);
    if (token === undefined) return obtainAndJudge(visit, true);
    // A client that has used this very token from there before does not guess.
    if (blocked !== undefined && !token.networks.has(wanted.attempt.network))
      return refuse(request, blocked.limited);
    const judged = judge(visit, token);
    return judged instanceof Promise || judged.kind === 'invalid'
      ? replaceOnce(visit, token, judged)
      : judged;
  };
}

/** A request on its way. */
type Visit = {
  readonly request: HttpRequest;
  readonly scope: readonly string[];
  readonly wanted: Wanted;
  readonly obtainer: TokenObtainer;
  readonly resourceServer: AnyResourceServer;
  readonly hearer: TokenHearer;
  /** The provider's time, for all that the request asks it. */
  readonly signal: () => AbortSignal;
};

type Judged = FilterDecision | { readonly kind: 'invalid'; readonly check: string };

function wantedOf<C>(
  { realm, settings, version }: OAuth2Definition,
  grant: CredentialGrant<C>,
  { credentials, expiresAt, name, parts }: Brought<C>,
  context: {
    readonly request: HttpRequest;
    readonly scope: readonly string[];
    readonly storeKey: KeyObject;
  },
): Wanted {
  const { request, scope, storeKey } = context;
  const told = [version, settings.clientAuthentication.method, scope.join(' '), ...parts];
  return {
    seal: sealOfCredentials(storeKey, { kind: 'token', realm }, told),
    attempt: {
      ...{ realm, provider: settings.authorizationURL, name },
      network: addressNetwork(request.clientAddress, CLIENT_NETWORK),
    },
    terms: { asked: scope, margin: settings.expirationSafetyMargin, credentialsEnd: expiresAt },
    ask: signal => grant.ask(credentials, scope, signal),
  };
}

/** With `again` a token that is not new and not valid is replaced. */
async function obtainAndJudge(visit: Visit, again: boolean): Promise<FilterDecision> {
  const { obtainer, request, signal, wanted } = visit;
  // The time begins here. What is left of it is for keys and userinfo.
  const obtained = await waitFor(obtainer.obtain(wanted), 'the token endpoint', signal());
  if (obtained.kind !== 'token') return refuse(request, obtained);
  const { isNew, token } = obtained;
  const judged = judge(visit, token);
  if (again && !isNew) return replaceOnce(visit, token, judged);
  const outcome = await judged;
  hearToken(visit.hearer, outcome.kind === 'invalid' ? `was refused: ${outcome.check}` : undefined);
  if (outcome.kind !== 'invalid') return outcome;
  await obtainer.discard(wanted.seal, obtained);
  return forbid(request, `The access token is not valid: ${outcome.check}.`);
}

/** Gets a new token for the same credentials, because a cached one may have been revoked. */
async function replaceOnce(
  visit: Visit,
  token: GrantedToken,
  judged: Judged | Promise<Judged>,
): Promise<FilterDecision> {
  const outcome = await judged;
  if (outcome.kind !== 'invalid') return outcome;
  await visit.obtainer.discard(visit.wanted.seal, { token, isNew: false });
  return obtainAndJudge(visit, false);
}

/** Judges a token by the scope granted (rule 5), then by itself (rule 6). */
function judge(visit: Visit, token: GrantedToken): Judged | Promise<Judged> {
  const { request, resourceServer, scope, wanted } = visit;
  if (token.networks.size < MOST_NETWORKS) token.networks.add(wanted.attempt.network);
  const missing = missingScope(scope, token.scope);
  if (missing.length > 0)
    return refuse(
      request,
      notGranted(`the provider has not granted \`scope\` ${missing.join(' ')}`),
    );
  const settle = (verdict: TokenVerdict): Judged => {
    if (verdict.kind === 'invalid') return { kind: 'invalid', check: verdict.check };
    if (verdict.kind === 'insufficient_scope') return refuse(request, notGranted(verdict.check));
    return { kind: 'allow', change: resourceServer.change(token, request) };
  };
  const verdict = resourceServer.validate(token, scope, visit.signal);
  return verdict instanceof Promise ? verdict.then(settle) : settle(verdict);
}

const MOST_NETWORKS = 16;

/** Answers 403 without a challenge (docs/reference/status-codes.md, RFC 9110 section 10.2.3). */
function refuse(
  request: HttpRequest,
  why: Exclude<Obtained, { readonly kind: 'token' }>,
): FilterDecision {
  if (why.kind !== 'limited') return forbid(request, REFUSALS[why.kind], why.reason);
  const message = `Too many credentials were refused. Try again in ${why.retryAfter} s.`;
  const headers = [['retry-after', `${why.retryAfter}`]] as const;
  return { kind: 'answer', answer: answerPage(request, { status: 429, message, headers }) };
}

const REFUSALS = {
  refused: 'The credentials were refused.',
  not_granted: 'A required scope is not granted.',
} as const;

function notGranted(reason: string) {
  return { kind: 'not_granted', reason } as const;
}

function forbid(request: HttpRequest, message: string, reason = message): FilterDecision {
  return {
    kind: 'answer',
    answer: answerPage(request, { status: 403, message, note: { reason } }),
  };
}
