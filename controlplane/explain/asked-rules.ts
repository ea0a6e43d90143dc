import { toldByRoute } from '#controlplane/compile/ext-authz/ext-authz-filter.ts';
import { JOINED } from '#controlplane/compile/gateways/route-filters.ts';
import type { PerFilterConfig } from './route-configuration.ts';

/** Returns the rule of a route of Gateway API, where it or a policy for it names Filters. */
export function routeRuleIn(route: PerFilterConfig): string | undefined {
  return toldByRoute(route, 'rule');
}

/** Returns the names of what the requests of a route pass before it is chosen, in their order. */
export function stagesBefore(route: PerFilterConfig): readonly string[] {
  return toldByRoute(route, 'after')?.split(JOINED) ?? [];
}
