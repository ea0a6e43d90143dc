import { messageType } from '#protos/root.ts';
import { CLUSTER, LISTENER, messageName, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { NO_RESOURCES, type Resources, type Snapshot, type XdsResource } from '../snapshot.ts';

const HTTP_CONNECTION_MANAGER =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

type Named = { readonly name: string };
type RouteAction = {
  readonly cluster: string;
  readonly weighted_clusters: { readonly clusters: readonly Named[] } | null;
  readonly request_mirror_policies: readonly { readonly cluster: string }[];
};
type RouteConfiguration = {
  readonly virtual_hosts: readonly {
    readonly routes: readonly { readonly route: RouteAction | null }[];
  }[];
};
type FilterChain = {
  readonly filters: readonly { readonly typed_config: XdsResource['any'] | null }[];
};
type Listener = {
  readonly filter_chains: readonly FilterChain[];
  readonly default_filter_chain: FilterChain | null;
};
type HttpConnectionManager = {
  readonly rds: { readonly route_config_name: string } | null;
  readonly route_config: RouteConfiguration | null;
};

/**
 * Returns what a snapshot names and does not hold: clusters of routes, and route configurations of
 * listeners. Envoy would accept it, and answer 503 or wait. The proxies already know
 * `bootstrapClusters`. Each entry is one sentence. Without any the snapshot may be served.
 */
export function missingReferences(
  snapshot: Snapshot,
  bootstrapClusters: ReadonlySet<string>,
): readonly string[] {
  const clusters = snapshot.get(CLUSTER) ?? NO_RESOURCES;
  const routes = snapshot.get(ROUTE_CONFIGURATION) ?? NO_RESOURCES;
  const missing = new Set<string>();
  const needCluster = (by: string, name: string) => {
    if (!clusters.has(name) && !bootstrapClusters.has(name))
      missing.add(`${by} names cluster ${name}, which is missing`);
  };
  for (const { name, any } of routes.values()) {
    for (const cluster of clustersOf(decode(any)))
      needCluster(`route configuration ${name}`, cluster);
  }
  for (const { name, manager } of managersOf(snapshot.get(LISTENER) ?? NO_RESOURCES)) {
    const routeName = manager.rds?.route_config_name;
    if (routeName !== undefined && !routes.has(routeName)) {
      missing.add(`listener ${name} names route configuration ${routeName}, which is missing`);
    }
    if (manager.route_config === null) continue;
    for (const cluster of clustersOf(manager.route_config))
      needCluster(`listener ${name}`, cluster);
  }
  return [...missing];
}

function clustersOf({ virtual_hosts }: RouteConfiguration): readonly string[] {
  const actions = virtual_hosts.flatMap(({ routes }) => routes.map(({ route }) => route));
  return actions.flatMap(action => (action === null ? [] : clustersOfAction(action)));
}

function clustersOfAction(action: RouteAction): readonly string[] {
  const weighted = action.weighted_clusters?.clusters ?? [];
  const mirrors = action.request_mirror_policies.map(({ cluster }) => cluster);
  return [action.cluster, ...weighted.map(({ name }) => name), ...mirrors].filter(
    name => name !== '',
  );
}

function managersOf(
  listeners: Resources,
): { readonly name: string; readonly manager: HttpConnectionManager }[] {
  return [...listeners.values()].flatMap(({ name, any }) => {
    const { filter_chains, default_filter_chain } = decode<Listener>(any);
    const chains =
      default_filter_chain === null ? filter_chains : [...filter_chains, default_filter_chain];
    const configs = chains.flatMap(({ filters }) =>
      filters.map(({ typed_config }) => typed_config),
    );
    const managers = configs.filter(config => config?.type_url === HTTP_CONNECTION_MANAGER);
    return managers.flatMap(config =>
      config === null ? [] : [{ name, manager: decode<HttpConnectionManager>(config) }],
    );
  });
}

function decode<Message>(any: XdsResource['any']): Message {
  const type = messageType(messageName(any.type_url));
  return type.decode(any.value) as unknown as Message;
}
