import type protobuf from 'protobufjs';
import { EncodeError } from './encode-error.ts';
import type { Json, JsonObject } from './json.ts';
import { findType, messageType } from './root.ts';
import { nameInTypeUrl } from './type-url.ts';

export const ANY = '.google.protobuf.Any';

/** Any, and the messages that encode-well-known.ts encodes. */
const OWN_FORM: ReadonlySet<protobuf.Type> = new Set(
  `Any BoolValue BytesValue DoubleValue Duration FloatValue Int32Value Int64Value ListValue
  StringValue Struct Timestamp UInt32Value UInt64Value Value`
    .split(/\s+/)
    .map(name => messageType(`google.protobuf.${name}`)),
);

/**
 * Tells whether the proto3 JSON of a message is not an object of its fields. In an Any it then
 * stands under `value`.
 */
export function hasOwnForm(type: protobuf.Type): boolean {
  return OWN_FORM.has(type);
}

/**
 * Tells whether an Any holds no message on purpose. In the `config` of a FilterConfig that turns a
 * filter on.
 */
export function isEmptyAny(json: JsonObject, path: string): boolean {
  return Object.keys(json).length === 0 && path.endsWith('.config');
}

/**
 * Returns the type that the `@type` of an Any names, and the JSON of its message. That is what
 * stands beside `@type`. For a message whose JSON is not an object of its fields, it is what
 * `value` holds. Source: proto3 JSON mapping, Any.
 */
export function openAny(
  json: JsonObject,
  path: string,
): { typeUrl: string; type: protobuf.Type; content: Json } {
  const { '@type': typeUrl, ...content } = json;
  if (typeof typeUrl !== 'string') throw new EncodeError(`${path}.@type`, 'missing');
  const type = findType(nameInTypeUrl(typeUrl) ?? '');
  if (type === undefined) throw new EncodeError(`${path}.@type`, `no message type ${typeUrl}`);
  if (!hasOwnForm(type)) return { typeUrl, type, content };
  const { value, ...others } = content;
  if (value === undefined || Object.keys(others).length > 0)
    throw new EncodeError(path, `want {"@type", "value"} for ${type.fullName.slice(1)}`);
  return { typeUrl, type, content: value };
}
