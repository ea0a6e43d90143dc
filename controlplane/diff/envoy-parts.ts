import type { Compiled } from '#controlplane/compile/compiled.ts';
import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { messageName, ROUTE_CONFIGURATION } from '#protos/type-url.ts';

/**
 * Returns the resources of a node group by type and name, such as `Cluster user`. A route
 * configuration is taken apart into virtual hosts, since it may be very large.
 */
export function partsOf({ resources }: Compiled): ReadonlyMap<string, JsonObject> {
  const parts = new Map<string, JsonObject>();
  for (const [typeUrl, messages] of resources) {
    const type = messageName(typeUrl).replace(/^.*\./, '');
    for (const { name, json } of messages) {
      const { virtual_hosts, ...rest } = json;
      parts.set(`${type} ${name}`, typeUrl === ROUTE_CONFIGURATION ? rest : json);
      for (const host of objectsIn(virtual_hosts)) parts.set(`VirtualHost ${host.name}`, host);
    }
  }
  return parts;
}

const HIDDEN = '(not shown)';

/** Returns the JSON without values of headers and parameters, which may be credentials. */
export function withoutValues(json: Json, inside = ''): Json {
  if (Array.isArray(json)) return json.map(item => withoutValues(item as Json, inside));
  if (!isJsonObject(json)) return json;
  const hides = HIDING.has(inside) && !String(json.name ?? '').startsWith(':');
  const entries = Object.entries(json).map(([key, value]) => {
    if (hides && key === 'string_match') return [key, HIDDEN];
    if (hides && key === 'header' && isJsonObject(value ?? null))
      return [key, { ...(value as JsonObject), value: HIDDEN }];
    return [key, withoutValues(value ?? null, key)];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** Lists whose items have values of an operator's choosing. */
const HIDING: ReadonlySet<string> = new Set([
  'headers',
  'query_parameters',
  'request_headers_to_add',
  'response_headers_to_add',
]);
