import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { Compiled } from './compiled.ts';

/**
 * Returns a configuration that needs no control plane. It is `bootstrap` with the compiled
 * resources themselves, and routes inside their listeners. `envoy --mode validate` checks all of
 * them at once.
 */
export function staticBootstrap(bootstrap: JsonObject, compiled: Compiled): JsonObject {
  const { dynamic_resources, static_resources, ...rest } = bootstrap;
  const routes = new Map(
    messages(compiled, ROUTE_CONFIGURATION).map(table => [table.name, table] as const),
  );
  const listeners = messages(compiled, LISTENER).map(listener => withRoutes(listener, routes));
  const clusters = [...clustersOf(static_resources), ...messages(compiled, CLUSTER)];
  const { ads_config } = dynamic_resources as { ads_config: JsonObject };
  return { ...rest, dynamic_resources: { ads_config }, static_resources: { listeners, clusters } };
}

function clustersOf(staticResources: Json | undefined): readonly JsonObject[] {
  return (staticResources as { clusters: readonly JsonObject[] }).clusters;
}

/** Returns the messages as they stand in a bootstrap, where their type is known. */
function messages({ resources }: Compiled, typeUrl: string): readonly JsonObject[] {
  return (resources.get(typeUrl) ?? []).map(({ json: { '@type': _, ...message } }) => message);
}

type Tables = ReadonlyMap<Json | undefined, JsonObject>;

/** Returns the same listener, with `route_config` for every `rds`. */
function withRoutes(json: JsonObject, routes: Tables): JsonObject {
  const replaced = (value: Json | undefined): Json | undefined => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(item => replaced(item) ?? null);
    return isJsonObject(value) ? withRoutes(value, routes) : value;
  };
  const entries = Object.entries(json).map(([key, value]) =>
    key === 'rds' ? ['route_config', tableOf(value, routes)] : [key, replaced(value)],
  );
  return Object.fromEntries(entries) as JsonObject;
}

function tableOf(rds: Json | undefined, routes: Tables): JsonObject {
  return (isJsonObject(rds) ? routes.get(rds.route_config_name) : undefined) ?? {};
}
