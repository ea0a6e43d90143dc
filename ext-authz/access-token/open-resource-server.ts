import type { Change } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import {
  type AskedRequest,
  renderHeaders,
  requestData,
  TemplateFault,
} from '#ext-authz/jwt/inject-headers.ts';
import type { JwtFilter } from '#ext-authz/jwt/open-jwt-filter.ts';
import { NO_TOKEN, tokenData } from '#ext-authz/jwt/token-data.ts';
import { tokenName, VerifiedTokens } from '#ext-authz/jwt/verified-tokens.ts';
import type { AnyResourceServer, GrantedTokens } from '#ext-authz/oauth2/tokens/resource-server.ts';
import type { OAuth2Settings } from '#ext-authz/policy/filter-settings.ts';
import { isAccessTokenForm } from '#ext-authz/provider/access-token-form.ts';
import type { Provider } from '#ext-authz/provider/provider.ts';
import { tokenExcess } from '#ext-authz/wire/header-limits.ts';
import { BoundedCache, type CacheBounds } from '#process/bounded-cache.ts';
import type { GoStruct } from '#resources/template/go-type.ts';
import { type Judge, type JudgedToken, judgeToken, type TokenSettings } from './judge-token.ts';
import { providerKeys } from './provider-keys.ts';

export type ResourceServerParts = {
  readonly provider: Pick<Provider, 'keySet' | 'knownKeySet' | 'metadata' | 'verify' | 'userinfo'>;
  /**
   * Returns the JWT filter in force of this name, `<namespace>/<name>`, as `accessTokenJWTFilter`
   * gives it.
   */
  readonly jwtFilter: (name: string) => JwtFilter | undefined;
  /** ms since the epoch */
  readonly now: () => number;
  /**
   * Returns a signal that aborts when the time for the provider is up. It is shorter than a
   * check's, so that the answer is 504.
   */
  readonly deadline: () => AbortSignal;
};

type Settings = TokenSettings & Pick<OAuth2Settings, 'injectRequestHeaders'>;

/**
 * Two tokens for each session, for as many sessions as are remembered. The weight is the length of
 * the tokens.
 */
const BOUNDS: CacheBounds = { entries: 20_000, weight: 32 * 1_048_576 };

/**
 * Opens the half of an OAuth2 filter that is a resource server (docs/reference/kinds/filter.md).
 * `realm` names the Filter in errors.
 */
export function openResourceServer(
  { realm, settings }: { readonly realm: string; readonly settings: Settings },
  { deadline, jwtFilter, now, provider }: ResourceServerParts,
): AnyResourceServer {
  const { accessTokenJWTFilter } = settings;
  const delegate = () =>
    (accessTokenJWTFilter && jwtFilter(accessTokenJWTFilter.filter)) || undefined;
  const tokens = new VerifiedTokens(providerKeys(provider), { now, deadline });
  const judge: Judge = {
    settings,
    tokens,
    userinfo: provider.userinfo,
    delegate,
    now,
  };
  const dataOf = rememberedData();
  const change = (
    tokens: GrantedTokens,
    by: JwtFilter | undefined,
    asked: () => AskedRequest,
  ): Change => {
    const { accessToken, idToken } = tokens;
    const token = () => dataOf(accessToken);
    const data = () => {
      const known = {
        token: token(),
        idToken: idToken === undefined ? NO_TOKEN : dataOf(idToken.raw),
      };
      return requestData(known, asked);
    };
    const own = renderHeaders(settings.injectRequestHeaders, data, {
      realm,
      field: 'injectRequestHeaders',
    });
    const set = by?.headers(token, asked) ?? new Map<string, string>();
    if (!set.has('authorization')) set.set('authorization', `Bearer ${accessToken}`);
    for (const [name, value] of own) set.set(name, value);
    return { set, remove: new Set(), responseHeaders: [] };
  };
  const knownOf = rememberedTokens(settings.allowMalformedAccessToken);
  return {
    validate: (tokens, scope, signal) => judgeToken(knownOf(tokens).judged, scope, judge, signal),
    change: (tokens, request) =>
      rememberedChange(knownOf(tokens), change, tokens, delegate(), request),
    roomFault: (tokens, request) => {
      const made = changeOrFault(() => change(tokens, delegate(), () => request));
      // A template that fails is told of by the requests that need it.
      return made instanceof TemplateFault ? undefined : tokenExcess(made);
    },
  };
}

/** What is known of granted tokens. It is found out once, because tokens never change. */
type KnownTokens = {
  readonly judged: JudgedToken;
  /** What the tokens change in a request, or why not, and which JWT filter took part in it. */
  made: { readonly by: JwtFilter | undefined; readonly change: Change | TemplateFault } | undefined;
};

function rememberedTokens(allowMalformed: boolean): (tokens: GrantedTokens) => KnownTokens {
  const known = new WeakMap<GrantedTokens, KnownTokens>();
  return tokens => {
    const remembered = known.get(tokens);
    if (remembered !== undefined) return remembered;
    const { accessToken, idToken } = tokens;
    const sub = idToken?.claims.sub;
    const judged = {
      ...{ accessToken, name: tokenName(accessToken) },
      hasForm: isAccessTokenForm(accessToken, allowMalformed),
      subject: typeof sub === 'string' ? sub : undefined,
      memory: { verdict: undefined, holding: undefined },
    };
    const found = { judged, made: undefined };
    known.set(tokens, found);
    return found;
  };
}

type MakeChange = (
  tokens: GrantedTokens,
  by: JwtFilter | undefined,
  asked: () => AskedRequest,
) => Change;

/**
 * Returns the same change each time when it was made of the tokens alone, because no template read
 * the request. A fault is remembered too, since claims that exceed the limits of a template cost
 * the most. Another JWT filter makes another change.
 */
function rememberedChange(
  known: KnownTokens,
  make: MakeChange,
  tokens: GrantedTokens,
  by: JwtFilter | undefined,
  request: HttpRequest,
): Change {
  if (known.made === undefined || known.made.by !== by) {
    let isRead = false;
    const change = changeOrFault(() =>
      make(tokens, by, () => {
        isRead = true;
        return request;
      }),
    );
    if (isRead) return changeOf(change);
    known.made = { by, change: withMemory(change) };
  }
  return changeOf(known.made.change);
}

function withMemory(change: Change | TemplateFault): Change | TemplateFault {
  return change instanceof TemplateFault
    ? change
    : { ...change, memory: { isFaultless: false, answered: undefined } };
}

function changeOrFault(make: () => Change): Change | TemplateFault {
  try {
    return make();
  } catch (error) {
    if (error instanceof TemplateFault) return error;
    throw error;
  }
}

function changeOf(change: Change | TemplateFault): Change {
  if (change instanceof TemplateFault) throw change;
  return change;
}

/** Makes what templates see of a token, once. */
function rememberedData(): (raw: string) => GoStruct {
  const known = new BoundedCache<GoStruct>(BOUNDS);
  return raw => {
    const remembered = known.get(raw);
    if (remembered !== undefined) return remembered;
    const data = tokenData(raw);
    known.set(raw, data, raw.length);
    return data;
  };
}
