import type { Compiled } from '#controlplane/compile/compiled.ts';
import type { JsonObject } from '#protos/json.ts';
import { ROUTE_CONFIGURATION } from '#protos/type-url.ts';

/** The name of the filter that asks the service that runs Filters. */
export const EXT_AUTHZ_FILTER = 'envoy.filters.http.ext_authz';

/** The name of the routes of the gateway's own paths. No resource has it. */
export const GATEWAY_ROUTE = 'gateway';

/** Settings of filters at a route or virtual host, by the names of the filters. */
export type PerFilterConfig = {
  readonly typed_per_filter_config?: Readonly<Record<string, JsonObject>>;
};

/** The fields of Envoy's `VirtualHost` that decide. */
export type VirtualHost = PerFilterConfig & {
  readonly name: string;
  readonly domains: readonly string[];
  readonly routes: readonly Route[];
  readonly rate_limits?: readonly JsonObject[];
};

/** Envoy's `Route`. Its name is the resource that it comes from. */
export type Route = PerFilterConfig & {
  readonly name: string;
  readonly match: JsonObject;
  readonly route?: RouteAction;
  readonly redirect?: JsonObject;
  readonly direct_response?: { readonly status: number };
};

export type RouteAction = {
  readonly cluster?: string;
  readonly weighted_clusters?: { readonly clusters: readonly WeightedCluster[] };
  readonly rate_limits?: readonly JsonObject[];
  readonly request_mirror_policies?: readonly Mirror[];
  readonly upgrade_configs?: readonly { readonly upgrade_type: string }[];
};

/** A copy of all requests, unless it gives a share. */
export type Mirror = {
  readonly cluster: string;
  readonly runtime_fraction?: { readonly default_value: Fraction };
};

/** Of a hundred, unless it says otherwise. */
export type Fraction = { readonly numerator: number; readonly denominator?: string };

export type WeightedCluster = { readonly name: string; readonly weight: number };

/** Returns the virtual hosts of a table of routes. Default: the first, the node group's own. */
export function virtualHostsOf({ resources }: Compiled, table?: string): readonly VirtualHost[] {
  const tables = resources.get(ROUTE_CONFIGURATION) ?? [];
  const configuration = tables.find(({ name }) => table === undefined || name === table);
  // The compiler writes it, and a test compares every field with real requests.
  return (configuration?.json.virtual_hosts ?? []) as unknown as readonly VirtualHost[];
}
