import { type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import type { Compiled, CompiledResource } from '../compiled.ts';

/**
 * Returns the function that makes each shard of a cut table a resource of its own, which proxies
 * receive by VHDS. So a change sends the shards that it changes, and not the table. The function
 * returns the very same JSON for a shard that did not change since its last call.
 */
export function shardUnits(): (compiled: Compiled) => Compiled {
  let known: ReadonlyMap<string, JsonObject> = new Map();
  return compiled => {
    const tables = compiled.resources.get(ROUTE_CONFIGURATION) ?? [];
    const cut = tables.filter(({ json }) => json.vhost_header !== undefined);
    const units = cut.flatMap(table => unitsOf(table, known));
    known = new Map(units.map(({ json, name }) => [name, json]));
    if (units.length === 0) return compiled;
    const small = tables.map(table => (cut.includes(table) ? withDiscovery(table) : table));
    return {
      ...compiled,
      resources: new Map([
        ...compiled.resources,
        [ROUTE_CONFIGURATION, small],
        [VIRTUAL_HOST, units],
      ]),
    };
  };
}

function withDiscovery({ json, ...table }: CompiledResource): CompiledResource {
  const { virtual_hosts: _, ...fields } = json;
  const vhds = { config_source: { ads: {}, resource_api_version: 'V3' } };
  return { ...table, json: { ...fields, vhds } };
}

function unitsOf(
  { json, name: table, origins }: CompiledResource,
  known: ReadonlyMap<string, JsonObject>,
): readonly CompiledResource[] {
  return objectsIn(json.virtual_hosts).map(host => {
    // Envoy takes what is before the last slash for the table. See `statName` for the dots.
    const name = `${table}/${encodeURIComponent(String(host.name)).replaceAll('.', '%2E')}`;
    const unit = { '@type': VIRTUAL_HOST, ...host, name };
    const last = known.get(name);
    return { name, json: last !== undefined && isSame(last, unit) ? last : unit, origins };
  });
}

/** Routes that did not change are the very same objects. */
function isSame(a: JsonObject, b: JsonObject): boolean {
  const { routes: before, ...fields } = a;
  const { routes: after, ...others } = b;
  return isSameList(before, after) && JSON.stringify(fields) === JSON.stringify(others);
}

function isSameList(before: Json | undefined, after: Json | undefined): boolean {
  if (before === after) return true;
  const [ours, theirs] = [objectsIn(before), objectsIn(after)];
  return ours.length === theirs.length && ours.every((route, index) => route === theirs[index]);
}
