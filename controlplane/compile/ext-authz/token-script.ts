/** Half of what a worker remembers. The older half is dropped when the younger is full. */
const HALF = { entries: 2_048, bytes: 4 * 1_048_576 } as const;
/** Longer fields are decided by the Filter service. */
const LONGEST_FIELD = 8_192;
/** Longer claims go to the service, which knows what Envoy takes. */
const LONGEST_CLAIM = 512;
/**
 * For how many seconds a verified token is not verified again. Together with the age of keys and
 * the time to live of the filter that has them, that is 10 s. See
 * docs/adr/0024-tokens-in-the-proxy.md.
 */
const REMEMBERED_S = 2;

/** The name of the filter state that names the provider of a token to the filter that verifies. */
export const PROVIDER_STATE = 'gateway.token_provider';
const VERIFIED = 'envoy.filters.http.jwt_authn';

/**
 * Returns the script of the filter that stands before the one that verifies and behind it, in one
 * state for each worker (`shared_vm_id`).
 *
 * It looks the token up among those that it knows, and leaves the Filter service out by `skip`.
 * Before, an unknown token gets a provider, whose keys verify it. Behind, it judges what is
 * verified, as strictly as `claimFault` of ext-authz or stricter, and remembers what may pass.
 * Envoy has checked the types of registered claims, and that the times hold within a second. In Lua
 * a member that is null is as one that is missing. So the header and `scope` are looked for in the
 * text. Envoy also takes more than JSON, and zeros before the halves of an ES signature. What is
 * verified is taken out of the metadata, because logs carry that.
 *
 * The skip is set last, so that a request is decided when anything fails before. What is remembered
 * depends on nothing but the token, the provider and the time. A known token comes straight from
 * the first place to the second, where nothing is left to do. A field that was sent twice has a
 * comma here.
 */
export function tokenScript(skip: { readonly filter: string; readonly key: string }): string {
  return String.raw`
local young, old, entries, bytes, began, latest = {}, {}, 0, 0, 0, 0
local is_known = false
local elliptic = { ES256 = 86, ES384 = 128, ES512 = 176 }
local digits = {}
for index = 1, 64 do
  digits[('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'):byte(index)] = index - 1
end
local function decode(text)
  local parts = {}
  for index = 1, #text, 4 do
    local a, b, c, d = text:byte(index, index + 3)
    local bits = digits[a] * 262144 + (digits[b] or 0) * 4096 + (digits[c] or 0) * 64 + (digits[d] or 0)
    parts[#parts + 1] = string.char(math.floor(bits / 65536), math.floor(bits / 256) % 256, bits % 256)
  end
  return table.concat(parts):sub(1, math.floor(#text * 3 / 4))
end
local function is_small(headers)
  local count, size = 0, 0
  for name, value in pairs(headers) do count, size = count + 1, size + #name + #value end
  return count < 80 and size < 49152
end
local function look_up(handle, headers, field, name)
  local now = os.time()
  if now < latest then young, old, entries, bytes, began = {}, {}, 0, 0, now end
  latest = now
  local known = young[name]
  local entry = known and known[field]
  if entry == nil then
    known = old[name]
    entry = known and known[field]
  end
  if entry == nil or now >= entry.ends then return false end
  local added = entry.added
  for index = 1, #added, 2 do headers:replace(added[index], added[index + 1]) end
  handle:streamInfo():dynamicMetadata():set('${skip.filter}', '${skip.key}', true)
  is_known = true
  return true
end
local function includes(list, value)
  for index = 1, #list do
    if list[index] == value then return true end
  end
  return false
end
local function is_time(value, is_required, least, most)
  if value == nil then return not is_required end
  return type(value) == 'number' and value >= least and value <= most
end
local function is_issuer(iss, terms)
  if iss == nil then return not terms.requireIssuer end
  return type(iss) == 'string' and (terms.issuer == nil or iss == terms.issuer)
end
local function is_audience(aud, terms)
  if aud == nil then return not terms.requireAudience end
  if type(aud) == 'string' then return terms.audience == nil or aud == terms.audience end
  if type(aud) ~= 'table' then return false end
  if terms.audience ~= nil then return includes(aud, terms.audience) end
  return #aud > 0 or not terms.requireAudience
end
local function is_scoped(claims, text, terms)
  if #terms.scope == 0 then return true end
  local scope = claims.scope
  if scope == nil then
    scope = claims.scp
    if text:find('null', 1, true) then return false end
  end
  if type(scope) == 'string' then
    local values = {}
    for value in scope:gmatch('[^ ]+') do values[#values + 1] = value end
    scope = values
  end
  if type(scope) ~= 'table' then return false end
  for index = 1, #terms.scope do
    if not includes(scope, terms.scope[index]) then return false end
  end
  return true
end
local function is_json(text)
  local rest = text:gsub('\\[\\"/bfnrtu]', '')
  if rest:find('\\', 1, true) then return false end
  rest = rest:gsub('"[^"%c]*"', '#')
  return not (rest:find('["\']') or rest:find('[^#%s]%s*:') or rest:find(',%s*[%]}]'))
end
local function is_plain(text, signature)
  for _, odd in ipairs({ '\\', 'crit', 'b64', '""' }) do
    if text:find(odd, 1, true) then return false end
  end
  for algorithm in text:gmatch('"alg"%s*:%s*"(ES%d+)"') do
    if #signature ~= elliptic[algorithm] then return false end
  end
  return is_json(text)
end
local function added_by(claims, terms)
  local added = {}
  for index = 1, #terms.headers do
    local header = terms.headers[index]
    local value = header.text or claims[header.claim]
    if type(value) ~= 'string' or #value > ${LONGEST_CLAIM} then return nil end
    if not value:find('^[!-~][ -~]*$') or value:sub(-1) == ' ' then return nil end
    added[2 * index - 1], added[2 * index] = header.name, value
  end
  return added
end
local function judge(handle, headers, field, name)
  local info = handle:streamInfo()
  local verified = info:dynamicMetadata():get('${VERIFIED}')
  local claims = verified and verified[name]
  if claims == nil then return end
  info:dynamicMetadata():set('${VERIFIED}', name, true)
  local now, terms = os.time(), handle:filterContext():get('terms')
  local header, payload, signature = field:match('^Bearer ([%w_-]+)%.([%w_-]+)%.([%w_-]+)$')
  local text = decode(payload)
  local holds = is_plain(decode(header), signature) and is_json(text)
    and is_issuer(claims.iss, terms) and is_audience(claims.aud, terms)
    and is_time(claims.exp, terms.requireExpiresAt, now + 1, math.huge)
    and is_time(claims.nbf, terms.requireNotBefore, -math.huge, now)
    and is_time(claims.iat, terms.requireIssuedAt, -math.huge, now)
    and is_scoped(claims, text, terms)
  local added = holds and added_by(claims, terms)
  if not added or (#added > 0 and not is_small(headers)) then return end
  if entries >= ${HALF.entries} or bytes >= ${HALF.bytes} or now - began > ${REMEMBERED_S} then
    old, young, entries, bytes, began = young, {}, 0, 0, now
  end
  local ends = math.min(now + ${REMEMBERED_S}, math.floor(claims.exp or math.huge))
  young[name] = young[name] or {}
  young[name][field] = { ends = ends, added = added }
  entries, bytes = entries + 1, bytes + #field
  for index = 1, #added, 2 do
    headers:replace(added[index], added[index + 1])
    bytes = bytes + #added[index + 1]
  end
  info:dynamicMetadata():set('${skip.filter}', '${skip.key}', true)
end
function envoy_on_request(handle)
  if is_known then
    is_known = false
    return
  end
  local headers = handle:headers()
  local field = headers:get('authorization')
  if field == nil then return end
  local name = handle:filterContext():get('name')
  if look_up(handle, headers, field, name) then return end
  local state = handle:streamInfo():filterState()
  if state:get('${PROVIDER_STATE}') ~= nil then
    judge(handle, headers, field, name)
  elseif #field <= ${LONGEST_FIELD} and field:find('^Bearer [%w_-]+%.[%w_-]+%.[%w_-]+$') then
    state:set('${PROVIDER_STATE}', 'envoy.string', name)
  end
end
`.trimStart();
}
