import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { contentHash } from '../clusters/content-hash.ts';
import type { Compiled, CompiledResource } from '../compiled.ts';
import { extension } from '../extension.ts';
import { PASSED_HEADER } from '../passed-header.ts';
import { type AskedHeader, askedHeader, byHeader } from './by-header.ts';
import { type PathStart, pathStart } from './path-start.ts';
import {
  SHARD_HEADER,
  type ShardHeader,
  shardHeader,
  VALUE_HEADER,
  type ValueCut,
  withValues,
} from './shard-header.ts';
import { type Shard, shardsOf } from './shards.ts';
import { valueUnits } from './value-units.ts';

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
  return sharder(longest)(compiled);
}

/**
 * Returns the same function. It remembers how it cut, so a list whose paths did not change since
 * its last call costs little.
 */
export function sharder(longest = LONGEST_LIST): (compiled: Compiled) => Compiled {
  let last: Cuts = new Map();
  return compiled => {
    const now: Cuts = new Map();
    const cut = cutTables(compiled, { longest, last, now });
    last = now;
    return cut;
  };
}

/** A table of routes as Envoy has it, if it is cut. */
export type CutHosts = Pick<ShardHeader, 'keyFor'> & { readonly hosts: readonly JsonObject[] };

/**
 * Returns the shards of a table, and how Envoy chooses one of them.
 * @returns undefined when the table is not cut
 */
export function cutHosts(
  { resources }: Compiled,
  name: string,
  longest = LONGEST_LIST,
): CutHosts | undefined {
  const table = resources.get(ROUTE_CONFIGURATION)?.find(each => each.name === name);
  const cutting = { longest, last: new Map(), now: new Map() };
  const cut = table && cutTable(table, cutting);
  if (cut === undefined) return undefined;
  const { header, table: shards } = cut;
  return { hosts: objectsIn(shards.json.virtual_hosts), keyFor: header.keyFor };
}

/** How lists were cut before, and are cut now. */
type Cutting = { readonly longest: number; readonly last: Cuts; readonly now: Cuts };

function cutTables(compiled: Compiled, cutting: Cutting): Compiled {
  const tables = compiled.resources.get(ROUTE_CONFIGURATION) ?? [];
  const cuts = new Map<string, CutTable>();
  for (const table of tables) {
    const cut = cutTable(table, cutting);
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

function cutTable(table: CompiledResource, cutting: Cutting): CutTable | undefined {
  const { virtual_hosts, ignore_port_in_host_matching: _, ...fields } = table.json;
  // The compiler wrote them.
  const hosts = (virtual_hosts ?? []) as unknown as readonly VirtualHost[];
  const cuts = new Map(
    hosts.map(host => [host.name, cutHost(host, `${table.name} ${host.name}`, cutting)]),
  );
  const long = hosts.filter(({ name }) => cuts.get(name) !== undefined);
  const total = hosts.reduce((sum, { routes }) => sum + routes.length, 0);
  if (long.length === 0 && total <= MOST_LISTS * cutting.longest) return undefined;
  const paths = shardHeader(
    hosts.flatMap(({ domains }) => domains),
    new Set(long.flatMap(({ domains }) => domains)),
  );
  if (paths === undefined) return undefined;
  const placed = long.flatMap(({ domains, name }) =>
    domains.flatMap(each => placedShards(each, cuts.get(name) ?? [], paths)),
  );
  const { header, valueCuts } = byValues(paths, isChosenAgain(table) ? [] : placed);
  const name = `${table.name}~${contentHash(JSON.stringify(header.changes))}`;
  const removed = (fields.request_headers_to_remove ?? []) as readonly string[];
  const shards = hosts.flatMap(({ routes, ...host }) =>
    (cuts.get(host.name) ?? [{ key: '', routes, asked: undefined }]).flatMap(shard => {
      const list = byHeader(shard.routes, shard.asked);
      // Each domain has its own, so that old and new ones never share one on the way.
      return host.domains.flatMap(each => {
        const domain = header.domainOf(each, shard.key);
        const cut = valueCuts.get(domain);
        const lists =
          cut === undefined || shard.asked === undefined
            ? [[domain, list] as const]
            : [...valueUnits(shard.routes, shard.asked, cut)].map(
                ([of, routes]) => [of, { routes }] as const,
              );
        return lists.map(([name, list]) => ({ ...host, ...list, name, domains: [name] }));
      });
    }),
  );
  const json = {
    ...fields,
    name,
    virtual_hosts: shards,
    vhost_header: SHARD_HEADER,
    request_headers_to_remove: [...removed, ...new Set(header.changes.map(({ key }) => key))],
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

/** A long list of routes, where their paths begin, and how it was cut. */
type Cut = {
  readonly routes: readonly JsonObject[];
  readonly starts: readonly PathStart[];
  readonly shards: readonly Shard<number>[];
  readonly lists: readonly HostShard[];
};

/** How long lists were cut, by their tables and virtual hosts. */
type Cuts = Map<string, Cut>;

/** A part of a virtual host, and the header by whose values it can be cut further. */
type HostShard = {
  readonly key: string;
  readonly routes: readonly JsonObject[];
  readonly asked: AskedHeader | undefined;
};

/** A shard of one domain, with the domains of those below it. */
type PlacedShard = HostShard & { readonly domain: string; readonly below: readonly string[] };

function placedShards(
  domain: string,
  shards: readonly HostShard[],
  { domainOf }: ShardHeader,
): readonly PlacedShard[] {
  return shards.flatMap(shard => {
    if (shard.asked === undefined) return [];
    const below = shards.filter(({ key }) => key !== shard.key && key.startsWith(shard.key));
    const of = ({ key }: HostShard) => domainOf(domain, key);
    return [{ ...shard, domain: of(shard), below: below.map(of) }];
  });
}

/** Each is an expression that Envoy evaluates for each request of the table. */
const MOST_VALUE_CUTS = 32;

/** A value of which no part means anything in a domain. */
const PLAIN_VALUE = /^[A-Za-z0-9][\w.:@/+=-]*$/;

type ByValues = {
  readonly header: ShardHeader;
  readonly valueCuts: ReadonlyMap<string, ValueCut>;
};

/** Returns the header that also has the value of the header that most of these shards ask for. */
function byValues(header: ShardHeader, shards: readonly PlacedShard[]): ByValues {
  const plain = shards.filter(({ asked }) =>
    asked?.values.every(value => value === undefined || PLAIN_VALUE.test(value)),
  );
  const names = Map.groupBy(plain, ({ asked }) => asked?.name ?? '');
  const [[name, cut] = ['', []]] = [...names].sort(([, a], [, b]) => b.length - a.length);
  const count = cut.reduce((sum, { below }) => sum + 1 + below.length, 0);
  const valued = count === 0 || count > MOST_VALUE_CUTS ? undefined : withValues(header, name, cut);
  if (valued === undefined) return { header, valueCuts: new Map() };
  const valueCuts = new Map<string, ValueCut>();
  for (const [index, each] of valued.cuts.entries()) valueCuts.set(cut[index]?.domain ?? '', each);
  return { header: valued, valueCuts };
}

/** Filters of such listeners set headers, and the route is then chosen once more. */
function isChosenAgain({ json }: CompiledResource): boolean {
  const removed = json.request_headers_to_remove;
  return Array.isArray(removed) && removed.includes(PASSED_HEADER);
}

function cutHost(
  { routes }: VirtualHost,
  name: string,
  { last, longest, now }: Cutting,
): readonly HostShard[] | undefined {
  if (routes.length <= longest) return undefined;
  const known = last.get(name);
  const cut = known?.routes === routes ? known : cutRoutes(routes, known, longest);
  now.set(name, cut);
  const { lists } = cut;
  return lists.length > 1 || lists.some(({ asked }) => asked !== undefined) ? lists : undefined;
}

function cutRoutes(routes: readonly JsonObject[], known: Cut | undefined, longest: number): Cut {
  const starts = routes.map(({ match }) => startOf(match as JsonObject));
  const shards =
    known !== undefined && isSame(starts, known.starts) ? known.shards : cutAt(starts, longest);
  const lists = shards.map(({ key, routes: indexes }) => {
    const own = indexes.map(({ route }) => routes[route]).filter(route => route !== undefined);
    return { key, routes: own, asked: askedHeader(own, longest) };
  });
  return { routes, starts, shards, lists };
}

/** Returns shards of the indexes of routes whose paths begin so. */
function cutAt(starts: readonly PathStart[], longest: number): readonly Shard<number>[] {
  const placed = starts.map((at, route) => ({ at, route }));
  return shardsOf(placed, longest) ?? [{ key: '', routes: placed }];
}

function isSame(a: readonly PathStart[], b: readonly PathStart[]): boolean {
  return (
    a.length === b.length &&
    a.every((each, index) => {
      const other = b[index];
      return each === other || (each.start === other?.start && each.isWhole === other.isWhole);
    })
  );
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
    append: { header: { key, value }, append_action, keep_empty_value: true },
  }));
  const removed = [SHARD_HEADER, VALUE_HEADER].map(remove => ({ remove }));
  return {
    ...manager,
    rds: { ...rds, route_config_name: table.name },
    early_header_mutation_extensions: [
      {
        name: 'envoy.http.early_header_mutation.header_mutation',
        typed_config: extension('http.early_header_mutation.header_mutation.v3.HeaderMutation', {
          mutations: [...objectsIn(earlier), ...removed, ...set],
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
  const disallowed_headers = { patterns: [{ exact: SHARD_HEADER }, { exact: VALUE_HEADER }] };
  return { ...filter, typed_config: { ...typed_config, disallowed_headers } };
}
