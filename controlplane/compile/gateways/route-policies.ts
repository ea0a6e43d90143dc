import type {
  ServedGateway,
  ServedListener,
  ServedRule,
} from '#controlplane/gateway-api/served-gateway.ts';
import type { Json, JsonObject } from '#protos/json.ts';
import { FILTER_POLICY } from '#protos/type-url.ts';
import type { Resource } from '#resources/resource.ts';
import type { CompiledResource } from '../compiled.ts';
import { toTargetFilter } from '../ext-authz/filter-policy-message.ts';
import type { TokenReference } from '../ext-authz/token-way.ts';
import type { RouteReferences } from '../ext-authz/tokens-on.ts';
import { Memo } from '../memo.ts';
import { placedStages } from './listener-stages.ts';
import { ruleName } from './route-filters.ts';

type Rule = ServedRule<unknown>;

/** Returns what the Filter service gets of the Filters of listeners, policies and routes. */
export function routePolicies(
  gateways: readonly ServedGateway[],
  memo = new Memo(),
): readonly CompiledResource[] {
  const found = new Map<string, CompiledResource>();
  for (const gateway of gateways)
    for (const each of memo.of(gateway, 'policies of routes', [], () => policiesOf([gateway])))
      if (!found.has(each.name)) found.set(each.name, each);
  return [...found.values()];
}

function policiesOf(gateways: readonly ServedGateway[]): readonly CompiledResource[] {
  const found = new Map<string, CompiledResource>();
  for (const { filters, origin } of openListeners(gateways))
    for (const { rule: name, stage } of placedStages(filters))
      if ('filters' in stage)
        found.set(name, { name, json: policy(name, named(stage.filters)), origins: [origin] });
  for (const [name, { id, rule }] of namedRules(gateways)) {
    const own = rule.filters.length > 0 ? [id] : [];
    const targeting = rule.policy === undefined ? [] : [rule.policy.policy.id];
    const origins = [...targeting, ...own];
    found.set(name, { name, json: policy(name, filtersOf(rule)), origins });
  }
  return [...found.values()];
}

/** Returns the Filters of the rules of routes, by the names of the rules. */
export function routeReferences(gateways: readonly ServedGateway[]): RouteReferences {
  return new Map([...namedRules(gateways)].map(([name, { rule }]) => [name, referencesOf(rule)]));
}

function referencesOf({ filters, policy }: Rule): readonly TokenReference[] {
  const { namespace = '', spec } = policy?.policy ?? {};
  return [
    ...(spec?.filters ?? []).map(each => ({ namespace, ...each })),
    ...filters.map(({ name, namespace }) => ({ name, namespace, arguments: {} })),
  ];
}

/** Every request of others is answered 500. */
function openListeners(gateways: readonly ServedGateway[]): readonly ServedListener[] {
  const listeners = gateways.flatMap(gateway => gateway.listeners);
  return listeners.filter(({ filters }) => filters?.broken === undefined);
}

/** Returns the rules that ask for Filters, each with the id of a route that has it. */
function namedRules(
  gateways: readonly ServedGateway[],
): ReadonlyMap<string, { readonly id: string; readonly rule: Rule }> {
  const found = new Map<string, { readonly id: string; readonly rule: Rule }>();
  for (const { route, ...served } of openListeners(gateways).flatMap(({ routes }) => routes)) {
    const rules: readonly Rule[] = served.rules;
    for (const rule of rules) {
      const name = ruleName(route.id, rule);
      if (name !== undefined && !found.has(name)) found.set(name, { id: route.id, rule });
    }
  }
  return found;
}

/** All of them must let a request pass. */
const NEXT = { on_deny: 'BREAK', on_allow: 'CONTINUE', arguments: {} } as const;

/** Returns them in the order in which they run. */
function filtersOf({ filters, policy }: Rule): readonly Json[] {
  const targeting = policy?.policy.spec.filters ?? [];
  return [
    ...targeting.map(each => toTargetFilter(each, policy?.policy.namespace ?? '')),
    ...named(filters),
  ];
}

function named(filters: readonly Resource<'Filter'>[]): readonly Json[] {
  return filters.map(({ name, namespace }) => ({ name, namespace, ...NEXT }));
}

function policy(name: string, filters: readonly Json[]): JsonObject {
  const [, namespace = '', ...rest] = name.split('/');
  return {
    '@type': FILTER_POLICY,
    namespace,
    name: rest.join('/'),
    precedence: 0,
    route_rule: name,
    rules: [{ host: '*', path: '*', filters }],
  };
}
