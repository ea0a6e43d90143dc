import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import { perFilterConfig } from '../per-filter-config.ts';
import { EXT_AUTHZ, SKIP } from './ext-authz-filter.ts';

/** The names of the filters before and after ext_authz, and of their settings in a route. */
const BEFORE = 'gateway.decision_cache';
const AFTER = 'gateway.decision_made';

/** Half of what a worker keeps. The older half is dropped when the younger is full. */
const HALF = { entries: 2_048, bytes: 4 * 1_048_576 } as const;
/** Longer Cookie fields are decided each time. */
const LONGEST_COOKIE = 8_192;
/** The longest `decisionCache`. */
const LONGEST_MS = 60_000;

/**
 * Both filters run it, in one state for each worker (`shared_vm_id`). The first has the name of the
 * rule and looks a request up. The second stores what ext-authz has set in a request that it was
 * asked about. A hit comes straight to the second, which has nothing to do.
 *
 * The skip is set last, so that a request is decided when anything fails before. On its way to the
 * second filter a key is in the filter state of its stream, which no log has. A login Filter sets
 * `Authorization` whatever the client sent there, and so does a hit.
 */
const SCRIPT = String.raw`
local young, old, entries, bytes, began, latest = {}, {}, 0, 0, 0, 0
local is_hit = false
local function key_of(headers, rule)
  local cookie = headers:get('cookie')
  if cookie == nil or #cookie > ${LONGEST_COOKIE} or headers:getNumValues('cookie') ~= 1 then return nil end
  return rule .. '\n' .. headers:get(':scheme') .. '\n' .. headers:get(':authority') .. '\n' .. cookie
end
local function turn(now)
  if now < latest then old, young, entries, bytes, began = {}, {}, 0, 0, now end
  if entries >= ${HALF.entries} or bytes >= ${HALF.bytes} or now - began > ${LONGEST_MS} then
    old, young, entries, bytes, began = young, {}, 0, 0, now
  end
  latest = now
end
local function look_up(handle, rule)
  local headers = handle:headers()
  local key = key_of(headers, rule)
  if key == nil then return end
  local now = handle:timestamp()
  turn(now)
  local entry = young[key] or old[key]
  if entry == nil or now >= entry.ends then
    handle:streamInfo():filterState():set('${BEFORE}', 'envoy.string', now .. '\n' .. key)
    return
  end
  for index = 1, #entry.names do headers:replace(entry.names[index], entry.values[index]) end
  if entry.cookie == nil then headers:remove('cookie') else headers:replace('cookie', entry.cookie) end
  handle:streamInfo():dynamicMetadata():set('${SKIP.filter}', '${SKIP.key}', true)
  is_hit = true
end
local function store(handle)
  local info = handle:streamInfo()
  local said = info:dynamicMetadata():get('${EXT_AUTHZ}')
  local asked = said ~= nil and said.rule ~= nil and info:filterState():get('${BEFORE}')
  if not asked then return end
  local since, key = asked:match('^(%d+)\n(.*)$')
  if key:match('^[^\n]*') ~= said.rule or tonumber(since) > latest then return end
  local headers, size = handle:headers(), 2 * #key
  local entry = { ends = since + said.ms, cookie = headers:get('cookie'), names = {}, values = {} }
  for name in said.headers:gmatch('[^,]+') do
    local value = headers:get(name)
    if value == nil then return end
    entry.names[#entry.names + 1], entry.values[#entry.values + 1] = name, value
    size = size + #name + #value
  end
  turn(latest)
  if young[key] == nil then entries, bytes = entries + 1, bytes + size end
  young[key] = entry
end
function envoy_on_request(handle)
  if is_hit then
    is_hit = false
    return
  end
  local rule = handle:filterContext():get('rule')
  if rule == nil then store(handle) else look_up(handle, rule) end
end
`;

/**
 * Returns the filters around ext_authz by which a proxy repeats decisions about sessions
 * (docs/adr/0023-decision-cache.md). They stand in listeners while a Filter has a `decisionCache`.
 * Routes turn them on.
 */
export function withDecisionCache(extAuthz: JsonObject): readonly JsonObject[] {
  return [luaFilter(BEFORE), extAuthz, luaFilter(AFTER)];
}

/** Returns the part of a route whose requests this rule decides, by their sessions alone. */
export function rememberingRule(rule: string): JsonObject {
  return perFilterConfig(turnedOn(BEFORE, { filter_context: { rule } }), turnedOn(AFTER, {}));
}

/** Returns whether a route is such a route. */
export function isRemembering(route: { readonly typed_per_filter_config?: object }): boolean {
  return Object.hasOwn(route.typed_per_filter_config ?? {}, BEFORE);
}

function turnedOn(name: string, fields: JsonObject): JsonObject {
  const config = extension('filters.http.lua.v3.LuaPerRoute', { name: BEFORE, ...fields });
  return { typed_per_filter_config: { [name]: config } };
}

function luaFilter(name: string): JsonObject {
  return {
    name,
    disabled: true,
    typed_config: extension('filters.http.lua.v3.Lua', {
      source_codes: { [BEFORE]: { inline_string: SCRIPT.trimStart() } },
      shared_vm_id: BEFORE,
      clear_route_cache: false,
    }),
  };
}
