import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { backendTarget, externalFault, externalStage, type RouteFrom } from './backend-target.ts';
import type { Fault } from './condition.ts';
import type { GatewayContext } from './gateway-context.ts';
import { filterNamed } from './reference.ts';
import type { Ask } from './remembered.ts';
import { type AnyFilter, type AnyRule, ruleFaults } from './rule-faults.ts';
import type { BackendTarget, RouteKind, ServedBackend, ServedRule } from './served-gateway.ts';

/** What a rule comes to. */
export type RuleVerdict<Rule> = {
  readonly served: ServedRule<Rule>;
  /** References that are not resolved. */
  readonly resolved: readonly Fault[];
  /** What the rule asks for and is not served here. */
  readonly unsupported: readonly Fault[];
  /** What may be meant as it is written, and may be an oversight. */
  readonly odd: readonly Fault[];
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
  const externals = externalsOf(ruleFilters, field, from, ask);
  const unsupported = ruleFaults(rule, field);
  const silent = unanswered(rule, ruleFilters);
  const broken =
    [...unsupported, ...filters.faults, ...externals.faults][0]?.message ??
    externalFault(externals.found) ??
    silent;
  return {
    served: {
      index,
      rule,
      backends: backends.map(({ served }) => served),
      mirrors: mirrors.targets,
      ...(broken === undefined ? {} : { broken }),
      filters: filters.found,
      externals: externals.found,
      limits: [],
    },
    resolved: [
      ...backends.flatMap(({ faults }) => faults),
      ...mirrors.faults,
      ...filters.faults,
      ...externals.faults,
    ],
    unsupported,
    odd: silent === undefined ? [] : [unansweredFault(silent, field, from)],
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

/** A service that cannot be asked closes the rule. */
function externalsOf(
  filters: readonly AnyFilter[],
  field: string,
  { kind, namespace }: RouteFrom,
  ask: Ask<GatewayContext>,
) {
  const each = filters.flatMap((filter, at) =>
    'externalAuth' in filter && filter.externalAuth !== undefined
      ? [externalStage(filter.externalAuth, `${field}.filters[${at}]`, { kind, namespace }, ask)]
      : [],
  );
  return {
    found: each.filter(one => 'external' in one),
    faults: each.filter(one => 'reason' in one),
  };
}

/** @returns why nothing answers the rule's requests */
function unanswered({ backendRefs }: AnyRule, filters: readonly AnyFilter[]): string | undefined {
  if (filters.some(({ type }) => type === 'RequestRedirect')) return undefined;
  if (backendRefs.length === 0) return 'it has no backends';
  return backendRefs.some(({ weight }) => weight > 0) ? undefined : 'no backend has a weight';
}

function unansweredFault(why: string, field: string, { kind }: RouteFrom): Fault {
  const message = `${UNANSWERED[kind]}: ${why}`;
  return { reason: 'NoBackend', field: `${field}.backendRefs`, message };
}

const UNANSWERED: Readonly<Record<RouteKind, string>> = {
  HTTPRoute: 'its requests are answered 500',
  GRPCRoute: 'its requests are answered 500',
  TLSRoute: 'its connections are closed',
  TCPRoute: 'its connections are closed',
  UDPRoute: 'its datagrams are dropped',
};

/** Returns the ids of the Services that rules send requests to, or ask about them. */
export function servicesOf(rules: readonly ServedRule<unknown>[]): readonly string[] {
  const targets = rules.flatMap(({ backends, externals, mirrors }) => [
    ...backends.flatMap(({ target }) => target ?? []),
    ...mirrors.values(),
    ...externals.map(({ target }) => target),
  ]);
  return [...new Set(targets.map(({ namespace, name }) => `${namespace}/${name}`))];
}

export type AnyRoute = Resource<RouteKind>;

/** Returns the routes of all kinds. */
export function allRoutes(resources: ResourceSet): readonly AnyRoute[] {
  const { httpRoutes, grpcRoutes, tlsRoutes, tcpRoutes, udpRoutes } = resources;
  return [...httpRoutes, ...grpcRoutes, ...tlsRoutes, ...tcpRoutes, ...udpRoutes];
}
