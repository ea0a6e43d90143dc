import { formatHostPort } from '#grpc/host-port.ts';
import { isJsonObject, type JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/words/host.ts';
import { EXT_AUTHZ_CLUSTER } from '../clusters/reserved-clusters.ts';
import { extension } from '../extension.ts';
import { withoutFilter } from '../per-filter-config.ts';

/** The filter's name, under which the service's metadata is too. */
export const EXT_AUTHZ = 'envoy.filters.http.ext_authz';

/**
 * The metadata by which a filter before it, which has decided a request itself, leaves it out for
 * this request.
 */
export const SKIP = { filter: 'gateway.ext_authz', key: 'skip' } as const;

/** The service answers after 4 s at the latest. */
const TIMEOUT = '5s';
/**
 * Longer than any logout. The service itself answers a body that is too long, with a page of ours.
 */
const LOGOUT_BODY_BYTES = 8193;

/** The name of routes that come from no resource. */
export const GATEWAY_ROUTE = 'gateway';

/** The paths of callback and logout (docs/reference/kinds/filter.md). */
export const GATEWAY_PATHS = '/.gateway/oauth2/';
const LOGOUT_PATH = '/.gateway/oauth2/logout';

/**
 * Returns Envoy's external authorization filter (docs/adr/0011-ext-authz.md).
 * - When the service is down or late, nothing passes: 503.
 * - It sends raw headers, since two Cookie fields would arrive joined by a comma otherwise.
 * - It stands in the listener without any Filter too, so that the first one does not drain the
 *   listener.
 * - What it denies is no answer of the cluster behind the route, and is not counted there.
 * - The service sees the connection's address. With `tellsClient` it also sees the one that trusted
 *   hops report.
 */
export function extAuthzFilter(address: HostPort, tellsClient: boolean): JsonObject {
  return {
    name: EXT_AUTHZ,
    typed_config: extension('filters.http.ext_authz.v3.ExtAuthz', {
      transport_api_version: 'V3',
      grpc_service: {
        envoy_grpc: { cluster_name: EXT_AUTHZ_CLUSTER, authority: formatHostPort(address) },
        timeout: TIMEOUT,
        ...(tellsClient ? { initial_metadata: [CLIENT_ADDRESS] } : {}),
      },
      failure_mode_allow: false,
      status_on_error: { code: 'ServiceUnavailable' },
      validate_mutations: true,
      encode_raw_headers: true,
      clear_route_cache: false,
      charge_cluster_response_stats: false,
      filter_enabled_metadata: NOT_SKIPPED,
    }),
  };
}

const NOT_SKIPPED: JsonObject = {
  filter: SKIP.filter,
  path: [{ key: SKIP.key }],
  value: { bool_match: true },
  invert: true,
};

const CLIENT_ADDRESS: JsonObject = {
  key: 'x-gateway-client-address',
  value: '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%',
};

/**
 * Returns the same filter, which asks before the route is chosen. It answers for the listener
 * alone, and the request is asked about again. Virtual hosts turn it on.
 */
export function earlyExtAuthzFilter(
  name: string,
  address: HostPort,
  tellsClient: boolean,
): JsonObject {
  return { ...extAuthzFilter(address, tellsClient), name, disabled: true };
}

/** The part of a virtual host that turns such a filter on, and tells the service its rule. */
export function earlyRule(name: string, rule: string): JsonObject {
  return extAuthzSettings(name, {
    check_settings: { context_extensions: { rule, before: 'route' } },
  });
}

/**
 * The part of a route that tells the service which rule of a Gateway API route it is. `after` names
 * what the request has passed before, for people.
 */
export function routeRuleOfFilters(rule: string | undefined, after?: string): JsonObject {
  const context_extensions = {
    ...(rule === undefined ? {} : { rule }),
    ...(after === undefined ? {} : { after }),
  };
  return perRoute({ check_settings: { context_extensions } });
}

/** The part of a virtual host where the filter is in the chain of every request. */
export const WITH_FILTERS: JsonObject = perRoute({ check_settings: {} });

/** Returns whether a route has settings of its own for this filter. */
export function hasFilterSettings({ typed_per_filter_config: settings }: JsonObject): boolean {
  return isJsonObject(settings) && settings[EXT_AUTHZ] !== undefined;
}

/** Returns what the settings of a route tell the service under a name. */
export function toldByRoute(
  { typed_per_filter_config: settings }: JsonObject,
  name: 'rule' | 'after',
): string | undefined {
  const own = isJsonObject(settings) ? settings[EXT_AUTHZ] : undefined;
  const check = isJsonObject(own) ? own.check_settings : undefined;
  const told = isJsonObject(check) ? check.context_extensions : undefined;
  const value = isJsonObject(told) ? told[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The part of a virtual host or route without filters. */
export const WITHOUT_FILTERS: JsonObject = withoutFilter(EXT_AUTHZ);

/**
 * The routes of the gateway's own paths, since a path without a route never reaches the service.
 * The service answers all of them. What it lets pass is not found. Only a logout's body is sent to
 * it.
 */
export const GATEWAY_ROUTES: readonly JsonObject[] = [
  {
    ...gatewayRoute({ path: LOGOUT_PATH }),
    ...perRoute({
      check_settings: {
        with_request_body: {
          max_request_bytes: LOGOUT_BODY_BYTES,
          allow_partial_message: true,
          pack_as_bytes: true,
        },
      },
    }),
  },
  gatewayRoute({ prefix: GATEWAY_PATHS }),
];

function gatewayRoute(match: JsonObject): JsonObject {
  return { name: GATEWAY_ROUTE, match, direct_response: { status: 404 } };
}

function perRoute(fields: JsonObject): JsonObject {
  return extAuthzSettings(EXT_AUTHZ, fields);
}

/** Returns the part of a virtual host or route with settings of an ext_authz filter. */
export function extAuthzSettings(name: string, fields: JsonObject): JsonObject {
  const config = extension('filters.http.ext_authz.v3.ExtAuthzPerRoute', fields);
  return { typed_per_filter_config: { [name]: config } };
}
