import type { ServedGateway, ServedRule } from '#controlplane/gateway-api/served-gateway.ts';
import type { Json, JsonObject } from '#protos/json.ts';
import { FILTER_POLICY } from '#protos/type-url.ts';
import type { Resource } from '#resources/resource.ts';
import type { CompiledResource } from '../compiled.ts';
import { toTargetFilter } from '../ext-authz/filter-policy-message.ts';
import { placedStages } from './listener-stages.ts';
import { ruleName } from './route-filters.ts';

type Rule = ServedRule<unknown>;

/** Returns what the Filter service gets of the Filters of listeners, policies and routes. */
export function routePolicies(gateways: readonly ServedGateway[]): readonly CompiledResource[] {
  const found = new Map<string, CompiledResource>();
  for (const { filters, origin, routes } of gateways.flatMap(({ listeners }) => listeners)) {
    // Every request is answered 500.
    if (filters?.broken !== undefined) continue;
    for (const { rule: name, stage } of placedStages(filters))
      if ('filters' in stage)
        found.set(name, { name, json: policy(name, named(stage.filters)), origins: [origin] });
    for (const { route, ...served } of routes) {
      const rules: readonly Rule[] = served.rules;
      for (const rule of rules) {
        const name = ruleName(route.id, rule);
        if (name === undefined || found.has(name)) continue;
        const own = rule.filters.length > 0 ? [route.id] : [];
        const targeting = rule.policy === undefined ? [] : [rule.policy.policy.id];
        const origins = [...targeting, ...own];
        found.set(name, { name, json: policy(name, filtersOf(rule)), origins });
      }
    }
  }
  return [...found.values()];
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
