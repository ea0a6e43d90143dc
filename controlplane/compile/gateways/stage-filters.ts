import type { ServedListener } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { earlyExtAuthzFilter } from '../ext-authz/ext-authz-filter.ts';
import { type Deciders, tellsClient } from '../listeners/http-filters.ts';
import { externalAuthFilter } from './external-auth-filter.ts';
import { CHOOSE_ROUTE_FILTER, type PlacedStage, placedStages } from './listener-stages.ts';

/**
 * Returns the HTTP filters that run before the route is chosen, for these listeners of a port. Each
 * listener has its own in its own order. Virtual hosts turn them on.
 * @returns undefined when no listener has any
 */
export function stageFilters(
  listeners: readonly ServedListener[],
  deciders: Deciders,
): readonly JsonObject[] | undefined {
  const all = listeners.flatMap(({ filters }) => placedStages(filters));
  if (all.length === 0) return undefined;
  const levels = [...Map.groupBy(all, ({ level }) => level)].sort(([a], [b]) => a - b);
  return [...levels.flatMap(([, placed]) => levelFilters(placed, deciders)), CHOOSE_ROUTE_FILTER];
}

function levelFilters(placed: readonly PlacedStage[], deciders: Deciders): readonly JsonObject[] {
  const external = placed.flatMap(({ name, stage }) =>
    'external' in stage ? [externalAuthFilter(name, stage)] : [],
  );
  const own = placed.find(({ stage }) => 'filters' in stage);
  if (own === undefined) return external;
  return [...external, earlyExtAuthzFilter(own.name, deciders.extAuthz, tellsClient(deciders))];
}
