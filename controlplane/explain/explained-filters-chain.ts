import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { canLogIn } from '#ext-authz/oauth2/login/navigation.ts';
import {
  type Place as OriginPlace,
  placeOf as originOf,
} from '#ext-authz/oauth2/session/origin.ts';
import type {
  Definitions,
  FilterDefinition,
  OAuth2Settings,
} from '#ext-authz/policy/filter-settings.ts';
import type { InsteadOfRedirect, Next, RuleItem, SameSite } from '#ext-authz/policy/rule.ts';
import type {
  FilterReference,
  InnerFilterReference,
} from '#resources/kinds/filter-policy/filter-policy.ts';
import { resourceId } from '#resources/resource.ts';
import {
  type Applies,
  type ConditionContext,
  explainCondition,
} from './explained-filters-condition.ts';
import type { OperatorRule } from './explained-filters-config.ts';
import { type Place, placeOf } from './place.ts';

/** A filter of a rule, or of `insteadOfRedirect`. */
export type ExplainedFilter = Place &
  Applies & {
    readonly type: 'OAuth2' | 'JWT';
    /** Present for OAuth2 filters. */
    readonly grantType?: OAuth2Settings['grantType'];
    /** Headers that it may set, in lower case. Values from a client are removed. */
    readonly injects: readonly string[];
    readonly onDeny: Next;
    readonly onAllow: Next;
    /** The scopes that are requested and required, with defaults. */
    readonly scope: readonly string[];
    /** Present with AuthorizationCode. */
    readonly login?: ExplainedLogin;
  };

export type ExplainedLogin = {
  /** Scheme and host as the gateway sees them: `http://site.test`. */
  readonly requestOrigin: string;
  /** The protected origin of the request. Without one the answer is 403. */
  readonly origin?: ExplainedOrigin;
  readonly sameSite?: SameSite;
  /**
   * Whether the client is sent to log in where `insteadOfRedirect` decides nothing. Else the answer
   * is 401.
   */
  readonly canLogIn: boolean;
  readonly insteadOfRedirect?: ExplainedInstead;
};

/** `configured` is the Filter's value. `origin` is the request's own, as browsers see it. */
export type ExplainedOrigin = Pick<OriginPlace, 'configured' | 'origin' | 'holdsLogin'>;

/** A status, or filters that decide. */
export type ExplainedInstead = Applies & {
  readonly status?: number;
  readonly filters?: readonly ExplainedFilter[];
};

export type ChainContext = {
  readonly definitions: Definitions;
  /** Without the headers that filters of the rule may inject. */
  readonly request: HttpRequest;
  readonly client: HttpRequest;
  readonly places: ReadonlyMap<string, Place>;
};

/**
 * Explains what each filter of a rule does with a request, as far as the request alone decides.
 * Whether a filter lets it pass stays open.
 */
export function explainChain(
  { rule, spec }: Pick<OperatorRule, 'rule' | 'spec'>,
  context: ChainContext,
): readonly ExplainedFilter[] {
  return explainItems(rule.items, spec.filters, { ...context, earlier: [] });
}

/** `earlier` has the names of the filters that may have changed the request. */
type Context = ChainContext & { readonly earlier: readonly string[] };

type Reference = FilterReference | InnerFilterReference;

function explainItems(
  items: readonly RuleItem[],
  written: readonly Reference[],
  context: Context,
): readonly ExplainedFilter[] {
  const earlier = [...context.earlier];
  return items.map((item, index) => {
    const filter = explainItem(item, written[index], { ...context, earlier: [...earlier] });
    if (filter.applies !== 'no') earlier.push(...filtersOf(item));
    return filter;
  });
}

/** The item itself sets what the filters of `insteadOfRedirect` set. */
function filtersOf({ arguments: { insteadOfRedirect }, filter }: RuleItem): readonly string[] {
  return [filter, ...(insteadOfRedirect?.items ?? []).map(item => item.filter)];
}

function explainItem(
  item: RuleItem,
  written: Reference | undefined,
  context: Context,
): ExplainedFilter {
  const definition = context.definitions.get(item.filter);
  if (definition === undefined) throw new Error(`Filter ${item.filter} is not in force`);
  const { onAllow, onDeny } = item;
  const shared = {
    ...placeOf(context.places, resourceId('Filter', definition.namespace, definition.name)),
    ...explainCondition(written?.ifRequestHeader, item.applies, conditionContext(context)),
    ...{ onDeny, onAllow, scope: scopeOf(item, definition) },
    injects: [...settableBy(item.filter, context.definitions)].sort(),
  };
  if (definition.type === 'JWT') return { ...shared, type: 'JWT' };
  const { grantType } = definition.settings;
  const oauth2 = { ...shared, type: 'OAuth2', grantType } as const;
  if (grantType !== 'AuthorizationCode') return oauth2;
  return { ...oauth2, login: explainLogin(item, written, definition.settings, context) };
}

/** Returns the scopes of a rule item. See docs/reference/kinds/filter-policy.md. */
function scopeOf(
  { arguments: { scope } }: RuleItem,
  definition: FilterDefinition,
): readonly string[] {
  if (definition.type === 'JWT' || definition.settings.grantType !== 'AuthorizationCode')
    return scope ?? [];
  return [...new Set(['openid', ...(scope ?? [])])].sort();
}

function explainLogin(
  { arguments: { insteadOfRedirect, sameSite } }: RuleItem,
  written: Reference | undefined,
  { protectedOrigins }: OAuth2Settings,
  context: Context,
): ExplainedLogin {
  const place = originOf(protectedOrigins, context.request);
  const instead = insteadOfRedirect && explainInstead(insteadOfRedirect, written, context);
  return {
    requestOrigin: requestOrigin(context.request),
    canLogIn: canLogIn(context.request),
    ...(place !== undefined && { origin: shownOrigin(place) }),
    ...(sameSite !== undefined && { sameSite }),
    ...(instead !== undefined && { insteadOfRedirect: instead }),
  };
}

/** Returns the origin that is compared with the `internalOrigin` of protected origins. */
export function requestOrigin({
  authority,
  scheme,
}: Pick<HttpRequest, 'authority' | 'scheme'>): string {
  return `${scheme}://${authority}`;
}

/** Returns the part of a place that operators may see. */
export function shownOrigin({ configured, holdsLogin, origin }: OriginPlace): ExplainedOrigin {
  return { configured, origin, holdsLogin };
}

function explainInstead(
  { applies, items, status }: InsteadOfRedirect,
  written: Reference | undefined,
  context: Context,
): ExplainedInstead {
  const given = written?.arguments;
  const spec =
    given !== undefined && 'insteadOfRedirect' in given ? given.insteadOfRedirect : undefined;
  return {
    ...explainCondition(spec?.ifRequestHeader, applies, conditionContext(context)),
    ...(status === undefined
      ? { filters: explainItems(items, spec?.filters ?? [], context) }
      : { status }),
  };
}

function conditionContext({ client, definitions, earlier, request }: Context): ConditionContext {
  const setters = (name: string) => [
    ...new Set(earlier.filter(filter => settableBy(filter, definitions).has(name))),
  ];
  return { request, client, setters };
}

/**
 * Returns the headers that a filter may set. They include the access token of an OAuth2 filter, and
 * what the Filter that it passes tokens to injects.
 */
function settableBy(filter: string, definitions: Definitions): ReadonlySet<string> {
  const definition = definitions.get(filter);
  if (definition === undefined) return new Set();
  const own = definition.settings.injectRequestHeaders.map(({ name }) => name);
  if (definition.type === 'JWT') return new Set(own);
  const delegate = definition.settings.accessTokenJWTFilter?.filter;
  const delegated = delegate === undefined ? [] : settableBy(delegate, definitions);
  return new Set(['authorization', ...own, ...delegated]);
}
