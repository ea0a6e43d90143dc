import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';

/** The name of the filter that replaces the bodies of errors, and of its settings in a route. */
export const ERROR_BODIES = 'gateway.error_bodies';

/**
 * The beginning of the response headers in which Envoy gives the filter the values of operators.
 */
export const VALUE_HEADER = 'x-gateway-error-';

/** The values that come first in each route: method and content type of the request. */
export const FIRST_VALUES = ['%REQ(:METHOD)%', '%REQ(CONTENT-TYPE)%'] as const;

/**
 * Envoy's `custom_response` makes a new answer, without the `Set-Cookie` and `Retry-After` of the
 * old one. Lua replaces the body alone, as it passes, so that none is buffered. Envoy does not ask
 * the filter again about an answer that replaces a buffered one that is too large. An error of
 * HTTP/2 without body and `content-length` stays empty.
 */
const SCRIPT = String.raw`
local OF_BODY = { 'content-encoding', 'content-language', 'content-disposition', 'content-md5',
  'content-range', 'content-digest', 'repr-digest', 'digest', 'etag', 'last-modified', 'accept-ranges' }
local ESCAPE = {
  none = function(text) return text end,
  html = function(text)
    return (text:gsub('[&<>"\'\96]', function(byte) return '&#' .. byte:byte() .. ';' end))
  end,
  json = function(text)
    return (text:gsub('[%z\1-\31"\\\127-\255]', function(byte)
      return string.format('\\u%04x', byte:byte())
    end))
  end,
}
local function take(headers, count)
  local values = {}
  for index = 1, count do
    local name = '${VALUE_HEADER}' .. index
    values[index] = headers:get(name)
    headers:remove(name)
  end
  return values
end
local function render(override, values)
  local texts = {}
  for index, part in ipairs(override.parts) do
    local text = part
    if type(part) == 'number' then
      text = ESCAPE[override.escape](values[part] or '-')
    end
    texts[index] = text
  end
  return table.concat(texts)
end
function envoy_on_response(handle)
  local headers, given = handle:headers(), handle:metadata()
  local values = take(headers, given:get('values'))
  local override = given:get('errors')[headers:get(':status')]
  if override == nil or (values[2] or ''):find('application/grpc', 1, true) == 1 then return end
  local body = render(override, values)
  for _, name in ipairs(OF_BODY) do headers:remove(name) end
  headers:replace('content-type', override.content_type)
  local length = headers:get('content-length')
  if values[1] == 'HEAD' then
    headers:replace('content-length', tostring(#body))
  elseif length == '0' then
    handle:body(true):setBytes(body)
  else
    if length ~= nil then headers:replace('content-length', tostring(#body)) end
    for chunk in handle:bodyChunks() do
      chunk:setBytes(body)
      body = ''
    end
  end
end
`;

/** Stands in listeners with a Mapping that has overrides. Its routes turn it on. */
export const ERROR_BODIES_FILTER: JsonObject = {
  name: ERROR_BODIES,
  disabled: true,
  typed_config: extension('filters.http.lua.v3.Lua', {
    source_codes: { [ERROR_BODIES]: { inline_string: SCRIPT.trimStart() } },
  }),
};
