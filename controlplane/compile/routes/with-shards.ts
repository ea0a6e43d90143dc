import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { contentHash } from '../clusters/content-hash.ts';
import type { Compiled, CompiledResource } from '../compiled.ts';
import { extension } from '../extension.ts';
import { byHeader } from './by-header.ts';
import { type PathStart, pathStart } from './path-start.ts';
import { SHARD_HEADER, type ShardHeader, shardHeader } from './shard-header.ts';
import { shardsOf } from './shards.ts';

/** A list with more routes is cut into shards. Below it the walk costs less than the cut. */
export const LONGEST_LIST = 64;

/**
 * A table with more routes than in so many longest lists is cut, so that an edit sends a part of
 * it.
 */
const MOST_LISTS = 16;

/** A table that was cut. Another header needs another name, because listeners change with it. */
type CutTable = { readonly table: CompiledResource; readonly header: ShardHeader };

/**
 * Returns the same configuration for Envoy, with long lists of routes cut into shards, each a
 * virtual host of its own. Envoy walks a list, and finds a virtual host by its hash. So a request
 * costs the same whatever the number of routes. Every request gets the route that it would get
 * from the lists.
 */
export function withShards(compiled: Compiled, longest = LONGEST_LIST): Compiled {
  const tables = compiled.resources.get(ROUTE_CONFIGURATION) ?? [];
  const cuts = new Map<string, CutTable>();
  for (const table of tables) {
    const cut = cutTable(table, longest);
    if (cut !== undefined) cuts.set(table.name, cut);
  }
  if (cuts.size === 0) return compiled;
  const listeners = compiled.resources.get(LISTENER) ?? [];
  return {
    ...compiled,
    resources: new Map([
      ...compiled.resources,
      [ROUTE_CONFIGURATION, tables.map(table => cuts.get(table.name)?.table ?? table)],
      [LISTENER, listeners.map(each => ({ ...each, json: withHeader(each.json, cuts) }))],
    ]),
  };
}

type VirtualHost = JsonObject & {
  readonly name: string;
  readonly domains: readonly string[];
  readonly routes: readonly JsonObject[];
};

function cutTable(table: CompiledResource, longest: number): CutTable | undefined {
  const { virtual_hosts, ignore_port_in_host_matching: _, ...fields } = table.json;
  // The compiler wrote them.
  const hosts = (virtual_hosts ?? []) as unknown as readonly VirtualHost[];
  const cuts = new Map(hosts.map(host => [host.name, cutHost(host, longest)]));
  const long = hosts.filter(({ name }) => cuts.get(name) !== undefined);
  const total = hosts.reduce((sum, { routes }) => sum + routes.length, 0);
  if (long.length === 0 && total <= MOST_LISTS * longest) return undefined;
  const header = shardHeader(
    hosts.flatMap(({ domains }) => domains),
    new Set(long.flatMap(({ domains }) => domains)),
  );
  if (header === undefined) return undefined;
  const name = `${table.name}~${contentHash(JSON.stringify(header.changes))}`;
  const removed = (fields.request_headers_to_remove ?? []) as readonly string[];
  const shards = hosts.flatMap(({ routes, ...host }) =>
    (cuts.get(host.name) ?? [{ key: '', list: { routes } }]).flatMap(({ key, list }) =>
      // Each domain has its own, so that old and new ones never share one on the way.
      host.domains.map(each => {
        const domain = header.domainOf(each, key);
        return { ...host, ...list, name: domain, domains: [domain] };
      }),
    ),
  );
  const json = {
    ...fields,
    name,
    virtual_hosts: shards,
    vhost_header: SHARD_HEADER,
    request_headers_to_remove: [...removed, SHARD_HEADER],
  };
  return { table: { ...table, name, json }, header };
}

/** A route that does not change is the very same object in the next compilation. */
const starts = new WeakMap<JsonObject, PathStart>();

function startOf(match: JsonObject): PathStart {
  const known = starts.get(match);
  if (known !== undefined) return known;
  const start = pathStart(match);
  starts.set(match, start);
  return start;
}

const EXT_AUTHZ_TYPE = extension('filters.http.ext_authz.v3.ExtAuthz')['@type'];

/** `list` is the part of a virtual host that has the routes. */
type HostShard = { readonly key: string; readonly list: JsonObject };

function cutHost({ routes }: VirtualHost, longest: number): readonly HostShard[] | undefined {
  if (routes.length <= longest) return undefined;
  const placed = routes.map(route => ({ route, at: startOf(route.match as JsonObject) }));
  const shards = shardsOf(placed, longest) ?? [{ key: '', routes: placed }];
  const lists = shards.map(({ key, routes }) => ({
    key,
    list: byHeader(
      routes.map(({ route }) => route),
      longest,
    ),
  }));
  return lists.length > 1 || lists.some(({ list }) => list.matcher !== undefined)
    ? lists
    : undefined;
}

/** Returns the same message, where each connection manager of a cut table sets its header. */
function withHeader(json: JsonObject, cuts: ReadonlyMap<string, CutTable>): JsonObject {
  const inside = (value: Json | undefined): Json | undefined => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(item => inside(item) ?? null);
    return isJsonObject(value) ? withHeader(value, cuts) : value;
  };
  const { rds } = json;
  const cut = isJsonObject(rds) ? cuts.get(String(rds.route_config_name)) : undefined;
  if (cut !== undefined && isJsonObject(rds)) return managerOf(json, rds, cut);
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [key, inside(value)]),
  ) as JsonObject;
}

function managerOf(manager: JsonObject, rds: JsonObject, { header, table }: CutTable): JsonObject {
  const [mutation] = objectsIn(manager.early_header_mutation_extensions);
  const earlier = isJsonObject(mutation?.typed_config) ? mutation.typed_config.mutations : [];
  const set = header.changes.map(({ append_action, key, value }) => ({
    append: { header: { key, value }, append_action },
  }));
  return {
    ...manager,
    rds: { ...rds, route_config_name: table.name },
    early_header_mutation_extensions: [
      {
        name: 'envoy.http.early_header_mutation.header_mutation',
        typed_config: extension('http.early_header_mutation.header_mutation.v3.HeaderMutation', {
          mutations: [...objectsIn(earlier), { remove: SHARD_HEADER }, ...set],
        }),
      },
    ],
    http_filters: objectsIn(manager.http_filters).map(withoutShard),
  };
}

/** Services that are asked get what the client sent. */
function withoutShard(filter: JsonObject): JsonObject {
  const { typed_config } = filter;
  if (!isJsonObject(typed_config) || typed_config['@type'] !== EXT_AUTHZ_TYPE) return filter;
  const disallowed_headers = { patterns: [{ exact: SHARD_HEADER }] };
  return { ...filter, typed_config: { ...typed_config, disallowed_headers } };
}
