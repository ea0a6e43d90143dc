import type { ServedGateway, ServedRule } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { FILTER_POLICY } from '#protos/type-url.ts';
import type { CompiledResource } from '../compiled.ts';
import { toTargetFilter } from '../ext-authz/filter-policy-message.ts';
import { ruleName } from './route-filters.ts';

type Rule = ServedRule<unknown>;

/** Returns what the Filter service gets of the Filters that routes and their policies name. */
export function routePolicies(gateways: readonly ServedGateway[]): readonly CompiledResource[] {
  const found = new Map<string, CompiledResource>();
  for (const { listeners } of gateways)
    for (const served of listeners.flatMap(({ routes }) => routes)) {
      const rules: readonly Rule[] = served.rules;
      for (const rule of rules) {
        const name = ruleName(served.route.id, rule);
        if (name === undefined || found.has(name)) continue;
        const own = rule.filters.length > 0 ? [served.route.id] : [];
        const origins = [...(rule.policy === undefined ? [] : [rule.policy.policy.id]), ...own];
        found.set(name, { name, json: policy(name, rule), origins });
      }
    }
  return [...found.values()];
}

/** All of them must let a request pass. */
const NEXT = { on_deny: 'BREAK', on_allow: 'CONTINUE', arguments: {} } as const;

function policy(name: string, { filters, policy }: Rule): JsonObject {
  const [, namespace = '', ...rest] = name.split('/');
  const own = filters.map(({ name, namespace }) => ({ name, namespace, ...NEXT }));
  const all =
    policy === undefined
      ? own
      : [
          ...(policy.policy.spec.filters ?? []).map(each =>
            toTargetFilter(each, policy.policy.namespace),
          ),
          ...own,
        ];
  return {
    '@type': FILTER_POLICY,
    namespace,
    name: rest.join('/'),
    precedence: 0,
    route_rule: name,
    rules: [{ host: '*', path: '*', filters: all }],
  };
}
