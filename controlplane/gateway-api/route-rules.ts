import type { GrpcRouteRule } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import type { HttpRouteRule } from '#resources/kinds/http-route/http-route-spec.ts';
import type { TcpRouteRule } from '#resources/kinds/tcp-route/tcp-route-spec.ts';
import type { Resource } from '#resources/resource.ts';
import { backendTarget, type RouteFrom } from './backend-target.ts';
import type { Fault } from './condition.ts';
import type { GatewayContext } from './gateway-context.ts';
import { filterNamed, unsupported } from './reference.ts';
import type { Ask } from './remembered.ts';
import type { BackendTarget, RouteKind, ServedBackend, ServedRule } from './served-gateway.ts';

/** A rule of any kind of route. */
export type AnyRule = HttpRouteRule | GrpcRouteRule | TcpRouteRule;

type AnyFilter = (HttpRouteRule | GrpcRouteRule)['filters'][number];

/** What a rule comes to. */
export type RuleVerdict<Rule> = {
  readonly served: ServedRule<Rule>;
  /** References that are not resolved. */
  readonly resolved: readonly Fault[];
  /** What the rule asks for and is not served here. */
  readonly unsupported: readonly Fault[];
};

/** Resolves all that a rule of a route refers to. */
export function routeRule<Rule extends AnyRule>(
  rule: Rule,
  index: number,
  from: RouteFrom,
  ask: Ask<GatewayContext>,
): RuleVerdict<Rule> {
  const field = `spec.rules[${index}]`;
  const ruleFilters: readonly AnyFilter[] = 'filters' in rule ? rule.filters : [];
  const backends = rule.backendRefs.map((_, at) => backendOf(rule, at, field, from, ask));
  const mirrors = mirrorsOf(ruleFilters, field, from, ask);
  const filters = filtersOf(ruleFilters, field, from, ask);
  const unsupported = [
    ...externalAuthFaults(ruleFilters, field),
    ...rule.backendRefs.flatMap((ref, at) =>
      'filters' in ref ? backendFilterFaults(ref.filters, `${field}.backendRefs[${at}]`) : [],
    ),
  ];
  const broken = [...unsupported, ...filters.faults][0]?.message ?? unanswered(rule, ruleFilters);
  return {
    served: {
      index,
      rule,
      backends: backends.map(({ served }) => served),
      mirrors: mirrors.targets,
      ...(broken === undefined ? {} : { broken }),
      filters: filters.found,
      limits: [],
    },
    resolved: [...backends.flatMap(({ faults }) => faults), ...mirrors.faults, ...filters.faults],
    unsupported,
  };
}

function backendOf(
  { backendRefs }: AnyRule,
  index: number,
  field: string,
  from: RouteFrom,
  ask: Ask<GatewayContext>,
): { readonly served: ServedBackend; readonly faults: readonly Fault[] } {
  const ref = backendRefs[index];
  if (ref === undefined) return { served: { index, weight: 0 }, faults: [] };
  const found = backendTarget(ref, `${field}.backendRefs[${index}]`, from, ask);
  const { weight } = ref;
  return 'reason' in found
    ? { served: { index, weight }, faults: [found] }
    : { served: { index, weight, target: found }, faults: [] };
}

function mirrorsOf(
  filters: readonly AnyFilter[],
  field: string,
  from: RouteFrom,
  ask: Ask<GatewayContext>,
) {
  const targets = new Map<number, BackendTarget>();
  const faults: Fault[] = [];
  for (const [at, { requestMirror }] of filters.entries()) {
    if (requestMirror === undefined) continue;
    const place = `${field}.filters[${at}].requestMirror.backendRef`;
    const found = backendTarget(requestMirror.backendRef, place, from, ask);
    if ('reason' in found) faults.push(found);
    else targets.set(at, found);
  }
  return { targets, faults };
}

/** A filter that is not found must not be skipped, since it may restrict access. */
function filtersOf(
  filters: readonly AnyFilter[],
  field: string,
  { namespace }: RouteFrom,
  ask: Ask<GatewayContext>,
) {
  const each = filters.flatMap(({ extensionRef }, at) =>
    extensionRef === undefined
      ? []
      : [filterNamed(extensionRef, `${field}.filters[${at}].extensionRef`, namespace, ask)],
  );
  return {
    found: each.filter(one => 'spec' in one),
    faults: each.filter(one => 'reason' in one),
  };
}

function externalAuthFaults(filters: readonly AnyFilter[], field: string): readonly Fault[] {
  return filters.flatMap(({ type }, at) =>
    type === 'ExternalAuth' ? [unsupported(`${field}.filters[${at}]`, 'ExternalAuth')] : [],
  );
}

/** Filters that decide whether a request may pass stand at the rule, before a backend is chosen. */
function backendFilterFaults(filters: readonly AnyFilter[], field: string): readonly Fault[] {
  return filters.flatMap(({ type }, at) =>
    NOT_OF_BACKENDS.includes(type)
      ? [unsupported(`${field}.filters[${at}]`, `${type} of a backend`)]
      : [],
  );
}

const NOT_OF_BACKENDS: readonly string[] = [
  'CORS',
  'ExtensionRef',
  'ExternalAuth',
  'RequestMirror',
  'RequestRedirect',
];

/** @returns why nothing answers the rule's requests */
function unanswered({ backendRefs }: AnyRule, filters: readonly AnyFilter[]): string | undefined {
  if (filters.some(({ type }) => type === 'RequestRedirect')) return undefined;
  if (backendRefs.length === 0) return 'it has no backends';
  return backendRefs.some(({ weight }) => weight > 0) ? undefined : 'no backend has a weight';
}

/** Returns the ids of the Services that rules send requests to. */
export function servicesOf(rules: readonly ServedRule<unknown>[]): readonly string[] {
  const targets = rules.flatMap(({ backends, mirrors }) => [
    ...backends.flatMap(({ target }) => target ?? []),
    ...mirrors.values(),
  ]);
  return [...new Set(targets.map(({ namespace, name }) => `${namespace}/${name}`))];
}

export type AnyRoute = Resource<RouteKind>;
