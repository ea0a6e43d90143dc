import { PASSED_HEADER } from '#controlplane/compile/passed-header.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { stagesBefore } from './asked-rules.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import {
  type ExplainedFilters,
  explainListenerFilters,
  type FilterInputs,
} from './explained-filters.ts';
import { withInjected, withoutIdentityHeaders } from './identity-headers.ts';
import { type Place, placeOf } from './place.ts';
import { unmetConditions } from './route-conditions.ts';
import type { RouteMatch } from './route-match.ts';

/** What filters of a listener do to the choice of the route. */
export type ExplainedListener = {
  /** The clusters of services that are asked (ExternalAuth). They may set any header. */
  readonly asks: readonly string[];
  /** Headers that its Filters may set, in lower case. What a client sends is removed. */
  readonly sets: readonly string[];
  /** Other routes that may be chosen, by what they set. */
  readonly others: readonly Place[];
};

/** The route that is chosen behind the filters of a listener. */
export type ChosenAgain = RouteMatch & {
  readonly request: EnvoyRequest;
  readonly listener: ExplainedListener;
};

/**
 * Follows a request through the filters of its listener, to the route that is chosen behind them. A
 * placeholder stands for what they set, so a route that asks for a value of it is one of `others`.
 * @returns undefined where the listener has none
 */
export function chosenAgain(
  manager: JsonObject,
  matched: (request: EnvoyRequest) => RouteMatch | undefined,
  inputs: FilterInputs,
): ChosenAgain | undefined {
  const stages = stagesBefore(inputs.match.route);
  if (stages.length === 0) return undefined;
  const { virtualHost } = inputs.match;
  const filters = explainListenerFilters(inputs);
  const stripped = withoutIdentityHeaders(inputs.request, virtualHost);
  const seen = withInjected(stripped, filters);
  const request = { ...seen, headers: new Map([...seen.headers, [PASSED_HEADER, ['yes']]]) };
  const match = matched(request) ?? inputs.match;
  const asks = stages.flatMap(name => clusterAsked(manager, name) ?? []);
  const sets = injectedBy(filters);
  const listener = { asks, sets, others: othersOf(match, request, sets, inputs) };
  return { ...match, request, listener };
}

function injectedBy(filters: ExplainedFilters | undefined): readonly string[] {
  if (filters?.decision !== 'chain') return [];
  return [...new Set(filters.chain.flatMap(({ injects }) => injects))].sort();
}

/**
 * Returns the cluster of the service that a filter of ExternalAuth asks.
 * @returns undefined where the listener has none of this name, as for a Filter of ours
 */
export function clusterAsked({ http_filters }: JsonObject, name: string): string | undefined {
  const filter = objectsIn(http_filters).find(each => each.name === name);
  const config = isJsonObject(filter?.typed_config) ? filter.typed_config : {};
  const grpc = isJsonObject(config.grpc_service) ? config.grpc_service.envoy_grpc : undefined;
  if (isJsonObject(grpc)) return String(grpc.cluster_name);
  const http = isJsonObject(config.http_service) ? config.http_service.server_uri : undefined;
  return isJsonObject(http) ? String(http.cluster) : undefined;
}

/** Returns the routes before the one that was found which only a header that is set may choose. */
function othersOf(
  { route, virtualHost }: RouteMatch,
  request: EnvoyRequest,
  sets: readonly string[],
  { places }: FilterInputs,
): readonly Place[] {
  const before = virtualHost.routes.slice(0, virtualHost.routes.indexOf(route));
  const possible = before.filter(
    ({ match }) => unmetConditions(withoutHeaders(match, sets), request).length === 0,
  );
  const ids = new Set(
    possible.filter(({ direct_response }) => direct_response === undefined).map(({ name }) => name),
  );
  return [...ids].map(id => placeOf(places, id));
}

function withoutHeaders(match: JsonObject, names: readonly string[]): JsonObject {
  const headers = objectsIn(match.headers).filter(({ name }) => !names.includes(String(name)));
  return { ...match, headers };
}
