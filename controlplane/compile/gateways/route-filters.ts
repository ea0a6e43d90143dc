import type { ServedGateway, ServedRule } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { FILTER_POLICY } from '#protos/type-url.ts';
import type { CompiledResource } from '../compiled.ts';
import { routeRuleOfFilters } from '../ext-authz/ext-authz-filter.ts';

/** Returns the name by which a route's rule and the Filter service know each other. */
function ruleName(routeId: string, { index }: Pick<ServedRule<unknown>, 'index'>): string {
  return `${routeId}/${index}`;
}

/** Returns the part of a route that makes the Filters run which its rule names. */
export function ruleFilters(routeId: string, rule: ServedRule<unknown>): JsonObject {
  return rule.filters.length === 0 ? {} : routeRuleOfFilters(ruleName(routeId, rule));
}

/** Returns what the Filter service gets of the Filters that routes name. */
export function routePolicies(gateways: readonly ServedGateway[]): readonly CompiledResource[] {
  const found = new Map<string, CompiledResource>();
  for (const { listeners } of gateways)
    for (const served of listeners.flatMap(({ routes }) => routes)) {
      const rules: readonly ServedRule<unknown>[] = served.rules;
      for (const rule of rules) {
        const name = ruleName(served.route.id, rule);
        if (rule.filters.length > 0 && !found.has(name))
          found.set(name, { name, json: policy(name, rule), origins: [served.route.id] });
      }
    }
  return [...found.values()];
}

/** All of them must let a request pass. */
const NEXT = { on_deny: 'BREAK', on_allow: 'CONTINUE', arguments: {} } as const;

function policy(name: string, { filters }: ServedRule<unknown>): JsonObject {
  const [, namespace = '', ...rest] = name.split('/');
  return {
    '@type': FILTER_POLICY,
    namespace,
    name: rest.join('/'),
    precedence: 0,
    route_rule: name,
    rules: [
      {
        host: '*',
        path: '*',
        filters: filters.map(({ name, namespace }) => ({ name, namespace, ...NEXT })),
      },
    ],
  };
}
