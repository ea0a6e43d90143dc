import type { JsonObject } from '#protos/json.ts';
import { ONE_READING } from '#resources/match/canonical-path.ts';
import { CREDENTIAL_HEADERS } from '#resources/words/reserved-headers.ts';
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

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** What ext-authz reads or removes besides cookies. A request with one of them is decided. */
const READ_HEADERS = ['authorization', ...CREDENTIAL_HEADERS] as const;

/** The same class as a Lua pattern, which escapes by `%`. */
const PLAIN_PATH = `^/${ONE_READING.replaceAll('\\', '%')}*`;

/**
 * One table for each worker, by rule, origin and the whole Cookie field. The skip is set last, so
 * that a request is decided when anything fails before. What ext-authz has set reaches the table
 * when the response passes, because each Lua filter has a state of its own. On the way it is in the
 * stream's filter state, which no log has.
 */
const SCRIPT_BEFORE = String.raw`
local METHODS = ${luaSet(METHODS)}
local READ = ${luaList(READ_HEADERS)}
local young, old, entries, bytes, began, latest = {}, {}, 0, 0, 0, 0
local function key_of(handle, headers)
  if headers:getNumValues('cookie') ~= 1 then return nil end
  local cookie, path = headers:get('cookie'), headers:get(':path')
  if #cookie > ${LONGEST_COOKIE} or path == nil or not METHODS[headers:get(':method')] then return nil end
  local _, last = path:find(${luaText(PLAIN_PATH)})
  if last == nil or (last < #path and path:byte(last + 1) ~= 63) then return nil end
  for index = 1, #READ do
    if headers:get(READ[index]) ~= nil then return nil end
  end
  local rule, host = handle:filterContext():get('rule'), headers:get(':authority')
  if rule == nil or host == nil then return nil end
  return table.concat({ rule, headers:get(':scheme') or '', host, cookie }, '\n')
end
local function turn(now)
  if now < latest then old, young, entries, bytes, began = {}, {}, 0, 0, now end
  if entries >= ${HALF.entries} or bytes >= ${HALF.bytes} or now - began > ${LONGEST_MS} then
    old, young, entries, bytes, began = young, {}, 0, 0, now
  end
  latest = now
end
function envoy_on_request(handle)
  local headers = handle:headers()
  local key = key_of(handle, headers)
  if key == nil then return end
  local now, info = handle:timestamp(), handle:streamInfo()
  turn(now)
  local entry = young[key] or old[key]
  if entry == nil or now >= entry.ends then
    info:filterState():set('${BEFORE}', 'envoy.string', now .. '\n' .. key)
    return
  end
  for index = 1, #entry.names do headers:replace(entry.names[index], entry.values[index]) end
  if entry.cookie == '' then
    headers:remove('cookie')
  else
    headers:replace('cookie', entry.cookie)
  end
  info:dynamicMetadata():set('${SKIP.filter}', '${SKIP.key}', true)
end
function envoy_on_response(handle)
  local state = handle:streamInfo():filterState()
  local made = state:get('${AFTER}')
  if made == nil then return end
  local asked = state:get('${BEFORE}')
  if asked == nil then return end
  local since, key = asked:match('^(%d+)\n(.*)$')
  local parts = {}
  for part in (made .. '\n'):gmatch('([^\n]*)\n') do parts[#parts + 1] = part end
  local ends = tonumber(since) + tonumber(parts[2])
  if parts[1] ~= key:match('^[^\n]*') or handle:timestamp() >= ends then return end
  local entry = { ends = ends, cookie = parts[3], names = {}, values = {} }
  for index = 4, #parts - 1, 2 do
    entry.names[#entry.names + 1] = parts[index]
    entry.values[#entry.values + 1] = parts[index + 1]
  end
  turn(handle:timestamp())
  if young[key] == nil then entries, bytes = entries + 1, bytes + #key + #made end
  young[key] = entry
end
`;

/** The values are those that the upstream gets. Names and time come from ext-authz. */
const SCRIPT_AFTER = String.raw`
function envoy_on_request(handle)
  local info = handle:streamInfo()
  local said = info:dynamicMetadata():get('${EXT_AUTHZ}')
  if said == nil or said.rule == nil then return end
  local headers = handle:headers()
  local parts = { said.rule, said.ms, headers:get('cookie') or '' }
  for name in said.headers:gmatch('[^,]+') do
    local value = headers:get(name)
    if value == nil then return end
    parts[#parts + 1], parts[#parts + 2] = name, value
  end
  info:filterState():set('${AFTER}', 'envoy.string', table.concat(parts, '\n'))
end
`;

/**
 * Returns the filters around ext_authz by which a proxy repeats decisions about sessions
 * (docs/adr/0023-decision-cache.md). They stand in listeners while a Filter has a `decisionCache`.
 * Routes turn them on.
 */
export function withDecisionCache(extAuthz: JsonObject): readonly JsonObject[] {
  return [luaFilter(BEFORE, SCRIPT_BEFORE), extAuthz, luaFilter(AFTER, SCRIPT_AFTER)];
}

/** Returns the part of a route that lies wholly under this rule. */
export function rememberingRule(rule: string): JsonObject {
  return perFilterConfig(turnedOn(BEFORE, { filter_context: { rule } }), turnedOn(AFTER, {}));
}

/** Returns whether a route is such a route. */
export function isRemembering(route: { readonly typed_per_filter_config?: object }): boolean {
  return Object.hasOwn(route.typed_per_filter_config ?? {}, BEFORE);
}

function turnedOn(name: string, fields: JsonObject): JsonObject {
  const config = extension('filters.http.lua.v3.LuaPerRoute', { name, ...fields });
  return { typed_per_filter_config: { [name]: config } };
}

function luaFilter(name: string, script: string): JsonObject {
  return {
    name,
    disabled: true,
    typed_config: extension('filters.http.lua.v3.Lua', {
      source_codes: { [name]: { inline_string: script.trimStart() } },
      clear_route_cache: false,
    }),
  };
}

function luaSet(texts: readonly string[]): string {
  return `{ ${texts.map(text => `${text} = true`).join(', ')} }`;
}

function luaList(texts: readonly string[]): string {
  return `{ ${texts.map(luaText).join(', ')} }`;
}

function luaText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
