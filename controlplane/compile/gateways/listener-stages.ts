import type { ListenerFilters, ListenerStage } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { earlyRule, extAuthzSettings } from '../ext-authz/ext-authz-filter.ts';
import { extension } from '../extension.ts';
import { PASSED_HEADER } from '../passed-header.ts';
import { perFilterConfig, withoutFilter } from '../per-filter-config.ts';

/** A stage of a listener with the filter of Envoy that runs it. */
export type PlacedStage = {
  readonly stage: ListenerStage;
  /** The name by which the stage is known. */
  readonly rule: string;
  /** The name of Envoy's filter. Listeners of a port share those that ask the Filter service. */
  readonly name: string;
  /** How many stages of the listener with Filters of ours come before. */
  readonly level: number;
};

const OWN = 'gateway.listener_filters';
const CHOOSE_ROUTE = 'gateway.choose_route';

/** Returns the stages of a listener. None when every request is answered 500. */
export function placedStages(filters: ListenerFilters | undefined): readonly PlacedStage[] {
  if (filters === undefined || filters.broken !== undefined) return [];
  const { listener, stages } = filters;
  return stages.map((stage, at) => {
    const level = stages.slice(0, at).filter(each => 'filters' in each).length;
    const rule = `${listener}/${at}`;
    const own = level === 0 ? OWN : `${OWN}.${level}`;
    return { stage, rule, level, name: 'filters' in stage ? own : rule };
  });
}

const SCRIPT = `function envoy_on_request(handle)
  handle:headers():replace('${PASSED_HEADER}', 'yes')
  handle:clearRouteCache()
end
`;

/**
 * Lets Envoy choose the route again. ext_authz would do so only where an answer changes a header.
 */
export const CHOOSE_ROUTE_FILTER: JsonObject = {
  name: CHOOSE_ROUTE,
  disabled: true,
  typed_config: extension('filters.http.lua.v3.Lua', {
    source_codes: {
      [CHOOSE_ROUTE]: {
        inline_string: SCRIPT,
      },
    },
  }),
};

/** Returns the part of a virtual host that turns the stages of its listener on. */
export function stagesOn(stages: readonly PlacedStage[]): JsonObject {
  const choose = extension('filters.http.lua.v3.LuaPerRoute', { name: CHOOSE_ROUTE });
  return perFilterConfig(
    ...stages.map(({ name, rule, stage }) =>
      'filters' in stage ? earlyRule(name, rule) : extAuthzSettings(name, { check_settings: {} }),
    ),
    { typed_per_filter_config: { [CHOOSE_ROUTE]: choose } },
  );
}

/** Returns the part of a route that leaves them out. No backend may get its requests. */
export function stagesOff(stages: readonly PlacedStage[]): JsonObject {
  return perFilterConfig(...[...stages.map(({ name }) => name), CHOOSE_ROUTE].map(withoutFilter));
}
