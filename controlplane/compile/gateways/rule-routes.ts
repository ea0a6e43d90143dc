import type {
  BackendTarget,
  ServedBackend,
  ServedRoute,
  ServedRule,
} from '#controlplane/gateway-api/served-gateway.ts';
import type { Json, JsonObject } from '#protos/json.ts';
import type { RequestMirror } from '#resources/kinds/gateway-api/request-mirror.ts';
import type { GrpcRouteMatch } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import type {
  HttpRouteFilter,
  HttpRouteMatch,
} from '#resources/kinds/http-route/http-route-spec.ts';
import { isAssumed } from '#resources/parse/assumed-rule.ts';
import { GATEWAY_ROUTE } from '../ext-authz/ext-authz-filter.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { type Labellings, targetRateLimits } from '../rate-limits/labelling.ts';
import { closed } from '../routes/closed-route.ts';
import { NO_END } from '../routes/retry-policy.ts';
import { routeParts } from '../routes/route-parts.ts';
import { upgradeConfigs } from '../routes/upgrades.ts';
import { backendClusterName, NO_BACKEND } from './backend-cluster-name.ts';
import { ruleFilters } from './route-filters.ts';
import { grpcMatch, httpMatch, preflightMatch, type ServedMatch } from './route-matches.ts';
import { externalsOn, ruleExternals, withExternals } from './rule-externals.ts';
import { corsChanges, headerChanges, valuesOf } from './rule-filters.ts';
import { type Asked, redirectAction } from './rule-redirect.ts';
import { lateRetries, retries, type TimedRule } from './rule-retries.ts';
import { hostRewrite, pathRewrite } from './rule-rewrite.ts';
import { sessionChanges } from './rule-session.ts';
import type { ServedRank } from './served-rank.ts';

/** An HTTPRoute or a GRPCRoute that is attached to a listener. */
export type ServedHttp = Extract<ServedRoute, { readonly kind: 'HTTPRoute' | 'GRPCRoute' }>;

/** A route of Envoy, and its rank but for the hostname. */
export type RankedRoute = {
  readonly rank: Omit<ServedRank, 'hostname'>;
  readonly route: JsonObject;
};

/** What routes depend on besides themselves. */
export type RouteContext = {
  readonly asked: Asked;
  readonly labellings: Labellings;
};

/** Returns the routes of all rules, one for each match, and those of preflights. */
export function rankedRoutes(served: ServedHttp, context: RouteContext): readonly RankedRoute[] {
  const { id, metadata, name, namespace } = served.route;
  const grpc = served.kind === 'GRPCRoute';
  const rules: readonly ServedRule<RuleOf>[] = served.rules;
  return rules.flatMap(rule =>
    matchesOf(rule, grpc).flatMap((match, index) =>
      sharesOf({ id, grpc, rule, match }).flatMap(parts =>
        toRoutes(parts, context).map(route => ({
          rank: {
            ...match.rank,
            isCall: grpc,
            created: metadata?.created ?? '',
            name: `${namespace}/${name}`,
            rule: rule.index,
            match: index,
            ...(isAssumed(rule.rule) ? BEFORE_EQUALS : {}),
          },
          route,
        })),
      ),
    ),
  );
}

/** Conditions that cannot be read are not counted. */
const BEFORE_EQUALS = { hasMethod: true, headers: Number.MAX_SAFE_INTEGER };

type RuleOf = ServedHttp['rules'][number]['rule'];

function matchesOf(served: ServedRule<RuleOf>, grpc: boolean): readonly ServedMatch[] {
  const { matches } = served.rule;
  if (grpc) {
    const written = matches as readonly GrpcRouteMatch[];
    return written.length === 0 ? [grpcMatch({ headers: [] })] : written.map(grpcMatch);
  }
  const written = matches as readonly HttpRouteMatch[];
  const hasCors = filtersOf(served).some(({ type }) => type === 'CORS');
  return [
    ...written.map(httpMatch),
    ...(hasCors ? written.flatMap(match => preflightMatch(match) ?? []) : []),
  ];
}

type Parts = {
  readonly id: string;
  readonly grpc: boolean;
  readonly rule: ServedRule<RuleOf>;
  readonly match: ServedMatch;
};

const MILLION = 1_000_000;

/**
 * Returns a route for each backend where one has a path of its own, since Envoy rewrites the path
 * of a whole route. Its fractions compare one random number of the request, so they add up.
 */
function sharesOf(parts: Parts): readonly Parts[] {
  const { match, rule } = parts;
  const used = usedBackends(rule);
  const isSplit = used.some(backend => rewritesPath(rule, backend));
  if (used.length < 2 || !isSplit) return [parts];
  const total = used.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  return used.map((backend, index) => {
    sum += backend.weight;
    const numerator = Math.round((sum / total) * MILLION);
    const fraction = { default_value: { numerator, denominator: 'MILLION' } };
    const isLast = index === used.length - 1;
    return {
      ...parts,
      rule: { ...rule, backends: [backend] },
      match: isLast ? match : { ...match, match: { ...match.match, runtime_fraction: fraction } },
    };
  });
}

function usedBackends({ backends }: ServedRule<RuleOf>): readonly ServedBackend[] {
  return backends.filter(({ weight }) => weight > 0);
}

function rewritesPath(rule: ServedRule<RuleOf>, backend: ServedBackend): boolean {
  const [rewrite] = valuesOf(backendFilters(rule, backend), 'urlRewrite');
  return rewrite?.value.path !== undefined;
}

/** A route that asks services is closed on a listener that does not. */
function toRoutes(parts: Parts, context: RouteContext): readonly JsonObject[] {
  const route = toRoute(parts, context);
  const externals = ruleExternals(parts.rule);
  if (externals.length === 0) return [route];
  const { match } = parts.match;
  return [
    {
      ...route,
      match: withExternals(match, externals),
      ...perFilterConfig(route, externalsOn(externals)),
    },
    closed(GATEWAY_ROUTE, match),
  ];
}

function toRoute(parts: Parts, { asked, labellings }: RouteContext): JsonObject {
  const { id, match, rule } = parts;
  const filters = filtersOf(rule);
  const named = { name: id, match: match.match };
  const [redirect] = valuesOf(filters, 'requestRedirect');
  if (rule.broken !== undefined) return { ...named, ...closedRule(parts) };
  if (redirect !== undefined)
    return {
      ...named,
      redirect: redirectAction(redirect.value, match.prefix, asked),
      ...routeParts(
        ruleFilters(id, rule),
        corsChanges(filters),
        responseOnly(headerChanges(filters)),
      ),
    };
  const used = usedBackends(rule);
  if (used.length === 0) return { ...named, ...closedRule(parts) };
  const [only] = used.length === 1 ? used : [];
  const [limits, limited] = targetRateLimits(rule.limits, labellings);
  return {
    ...named,
    route: { ...forward(parts, used), ...limits },
    ...routeParts(
      ruleFilters(id, rule),
      sessionChanges(id, rule),
      lateRetries(rule.rule as TimedRule),
      limited,
      corsChanges(filters),
      only === undefined ? {} : headerChanges([...filters, ...backendFilters(rule, only)]),
    ),
  };
}

/** Of 503 Envoy makes `UNAVAILABLE` for a call, as Gateway API asks, and of 500 `UNKNOWN`. */
function closedRule({ grpc, id, match }: Parts): JsonObject {
  return closed(id, match.match, grpc ? 503 : 500);
}

/** No service gets the request. */
function responseOnly(changes: JsonObject): JsonObject {
  const { request_headers_to_add: _, request_headers_to_remove: __, ...rest } = changes;
  return rest;
}

function filtersOf({ rule }: ServedRule<RuleOf>): readonly HttpRouteFilter[] {
  return (rule.filters ?? []) as readonly HttpRouteFilter[];
}

function backendFilters(
  { rule }: ServedRule<RuleOf>,
  { index }: ServedBackend,
): readonly HttpRouteFilter[] {
  return (rule.backendRefs?.[index]?.filters ?? []) as readonly HttpRouteFilter[];
}

function forward({ grpc, match, rule }: Parts, used: readonly ServedBackend[]): JsonObject {
  const [only] = used.length === 1 ? used : [];
  const filters = filtersOf(rule);
  const rewriting = only === undefined ? filters : [...backendFilters(rule, only), ...filters];
  const { timeouts } = rule.rule as TimedRule;
  return {
    ...clusters(rule, used, filters, grpc),
    // As in `closedRule`.
    cluster_not_found_response_code: grpc ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_SERVER_ERROR',
    ...(only === undefined ? {} : hostRewrite(rewriting)),
    ...pathRewrite(rewriting, match.prefix),
    ...mirrors(rule, filters, grpc),
    timeout: timeouts?.request === undefined ? NO_END : `${timeouts.request / 1000}s`,
    ...(grpc ? {} : upgradeConfigs(['websocket'])),
    retry_policy: retries(rule.rule as TimedRule),
  };
}

/** Envoy applies the changes of a route behind those of a backend, which are to come last. */
function clusters(
  rule: ServedRule<RuleOf>,
  used: readonly ServedBackend[],
  filters: readonly HttpRouteFilter[],
  grpc: boolean,
): JsonObject {
  const [first, ...others] = used;
  if (first === undefined || others.length === 0) return { cluster: clusterOf(first, grpc) };
  const weighted: Json[] = used.map(backend => {
    const own = backendFilters(rule, backend);
    return {
      name: clusterOf(backend, grpc),
      weight: backend.weight,
      ...hostRewrite([...own, ...filters]),
      ...headerChanges([...filters, ...own]),
    };
  });
  return { weighted_clusters: { clusters: weighted } };
}

function clusterOf(backend: ServedBackend | undefined, grpc: boolean): string {
  const target = backend?.target;
  return target === undefined || target.tls === 'closed'
    ? NO_BACKEND
    : backendClusterName(target, grpc ? 'grpc' : 'http');
}

/** Copies go with the request's own host. Mirrors that are not resolved get none. */
function mirrors(
  { mirrors: targets }: ServedRule<RuleOf>,
  filters: readonly HttpRouteFilter[],
  grpc: boolean,
): JsonObject {
  const policies = valuesOf(filters, 'requestMirror').flatMap(({ index, value }) => {
    const target = targets.get(index);
    if (target === undefined || target.tls === 'closed') return [];
    return [
      {
        cluster: backendClusterName(target, grpc ? 'grpc' : 'http'),
        disable_shadow_host_suffix_append: true,
        ...share(value),
      },
    ];
  });
  return policies.length === 0 ? {} : { request_mirror_policies: policies };
}

/** Envoy's fractions have three denominators. */
function share({ fraction, percent }: RequestMirror): JsonObject {
  if (percent === undefined && fraction === undefined) return {};
  const { denominator, numerator } = fraction ?? { numerator: percent ?? 0, denominator: 100 };
  const millionths = Math.round((numerator / denominator) * MILLION);
  return {
    runtime_fraction: { default_value: { numerator: millionths, denominator: 'MILLION' } },
  };
}

/** Returns the backends and mirrors whose clusters a route needs. */
export function targetsOf({ rules }: ServedRoute): readonly BackendTarget[] {
  const all: readonly ServedRule<unknown>[] = rules;
  return all.flatMap(({ backends, mirrors }) => [
    ...backends.flatMap(({ target, weight }) =>
      target === undefined || weight === 0 ? [] : target,
    ),
    ...mirrors.values(),
  ]);
}
