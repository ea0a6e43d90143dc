import type { ListenerFilters, ServedRule } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { routeRuleOfFilters } from '../ext-authz/ext-authz-filter.ts';

type Rule = ServedRule<unknown>;

/**
 * Returns the name by which a rule's Filters and the Filter service know each other. It joins the
 * listener with the number of its Filters, the FilterPolicy with its target, and the route with its
 * rule, of those that ask for Filters. So all rules of a policy share one.
 * @returns undefined when no Filter is asked
 */
export function ruleName(
  routeId: string,
  { filters, index, listener, policy }: Rule,
): string | undefined {
  const ofPolicy = (policy?.policy.spec.filters ?? []).length > 0;
  const names = [
    ...(listener === undefined ? [] : [listenerRuleName(listener)]),
    ...(policy !== undefined && ofPolicy ? [`${policy.policy.id}/${policy.target}`] : []),
    ...(filters.length > 0 ? [`${routeId}/${index}`] : []),
  ];
  return names.length === 0 ? undefined : names.join(JOINED);
}

/** Returns the name of a listener's Filters alone, for requests that no route matches. */
export function listenerRuleName({ filters, listener }: ListenerFilters): string {
  return `${listener}/${filters.length}`;
}

/** No name of a resource has it. */
export const JOINED = ' + ';

/** Returns the part of a route that makes the Filters run which its rule and its policy name. */
export function ruleFilters(routeId: string, rule: Rule): JsonObject {
  const name = ruleName(routeId, rule);
  return name === undefined ? {} : routeRuleOfFilters(name);
}
