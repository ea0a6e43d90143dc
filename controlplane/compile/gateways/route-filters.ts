import type { ServedRule } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { routeRuleOfFilters } from '../ext-authz/ext-authz-filter.ts';
import { type PlacedStage, placedStages } from './listener-stages.ts';

type Rule = ServedRule<unknown>;

/**
 * Returns the name by which a rule's Filters and the Filter service know each other. It joins the
 * FilterPolicy with its target and the route with its rule, of those that ask for Filters. So all
 * rules of a policy share one.
 * @returns undefined when no Filter is asked
 */
export function ruleName(routeId: string, { filters, index, policy }: Rule): string | undefined {
  const ofPolicy = (policy?.policy.spec.filters ?? []).length > 0;
  const names = [
    ...(policy !== undefined && ofPolicy ? [`${policy.policy.id}/${policy.target}`] : []),
    ...(filters.length > 0 ? [`${routeId}/${index}`] : []),
  ];
  return names.length === 0 ? undefined : names.join(JOINED);
}

/** No name of a resource has it. */
export const JOINED = ' + ';

/** Returns the part of a route that makes the Filters run which its rule and its policy name. */
export function ruleFilters(routeId: string, rule: Rule): JsonObject {
  const name = ruleName(routeId, rule);
  const after = afterStages(placedStages(rule.listener));
  return name === undefined && after === undefined ? {} : routeRuleOfFilters(name, after);
}

/** Returns the names of the stages that requests have passed. */
export function afterStages(stages: readonly PlacedStage[]): string | undefined {
  return stages.length === 0 ? undefined : stages.map(({ rule }) => rule).join(JOINED);
}
