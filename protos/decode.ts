import protobuf from 'protobufjs';
import { ANY, hasOwnForm } from './any.ts';
import type { Message } from './decode-bytes.ts';
import { decodeBytes } from './decode-bytes.ts';
import { isDefaultValue, scalarToJson, toBase64 } from './decode-scalar.ts';
import { FROM_WELL_KNOWN } from './decode-well-known.ts';
import type { Any } from './encode.ts';
import type { Json, JsonObject } from './json.ts';
import { findType, messageType } from './root.ts';
import { nameInTypeUrl } from './type-url.ts';

/**
 * Decodes an Any, as the inverse of encodeAny. The result is proto3 JSON with `@type`, snake_case
 * fields, enum words, "5s" durations, 64-bit integers in quotes and bytes in base64. Defaults are
 * left out. An Any of an unknown type keeps its bytes, in base64, under `value`. Throws when the
 * bytes are no such message.
 */
export function decodeAny(any: Any): JsonObject {
  const type = findType(nameInTypeUrl(any.type_url) ?? '');
  if (type === undefined) return { '@type': any.type_url, value: toBase64(any.value) };
  const json = messageToJson(type, decodeBytes(type, any.value) as Message);
  if (hasOwnForm(type)) return { '@type': any.type_url, value: json };
  return { '@type': any.type_url, ...(json as JsonObject) };
}

/** Decodes one message of the named type, as the inverse of encode and otherwise as decodeAny. */
export function decode(typeName: string, bytes: Uint8Array): JsonObject {
  const type = messageType(typeName);
  return messageToJson(type, decodeBytes(type, bytes) as Message) as JsonObject;
}

function messageToJson(type: protobuf.Type, message: Message): Json {
  const { toJson, fields } = formOf(type);
  if (toJson !== undefined) return toJson(message);
  const json: Record<string, Json> = {};
  for (const field of fields)
    if (isSent(field, message)) json[field.name] = fieldToJson(field, message[field.name]);
  return json;
}

/**
 * The JSON form of a type's messages: a form of their own, or their fields in the order of their
 * numbers.
 */
type Form = {
  readonly toJson: ((message: Message) => Json) | undefined;
  readonly fields: readonly protobuf.Field[];
};

/** Computed once per type, because protobufjs computes a type's name again at each access. */
const forms = new WeakMap<protobuf.Type, Form>();

function formOf(type: protobuf.Type): Form {
  const known = forms.get(type);
  if (known !== undefined) return known;
  const { fullName } = type;
  const ownForm = FROM_WELL_KNOWN.get(fullName);
  const form = {
    toJson: fullName === ANY ? (message: Message) => decodeAny(message as unknown as Any) : ownForm,
    fields: type.fieldsArray.toSorted((a, b) => a.id - b.id),
  };
  forms.set(type, form);
  return form;
}

function isSent(field: protobuf.Field, message: Message): boolean {
  if (!Object.hasOwn(message, field.name)) return false;
  const value = message[field.name];
  if (field.map) return Object.keys(value as object).length > 0;
  if (Array.isArray(value)) return value.length > 0;
  const hasPresence = field.partOf !== null || field.resolvedType instanceof protobuf.Type;
  return hasPresence || !isDefaultValue(value);
}

function fieldToJson(field: protobuf.Field, value: unknown): Json {
  if (field.map) {
    const entries = Object.entries(value as Readonly<Record<string, unknown>>);
    return Object.fromEntries(entries.map(([key, item]) => [key, valueToJson(field, item)]));
  }
  if (Array.isArray(value)) return value.map(item => valueToJson(field, item));
  return valueToJson(field, value);
}

function valueToJson(field: protobuf.Field, value: unknown): Json {
  const type = field.resolvedType;
  if (type instanceof protobuf.Type) return messageToJson(type, value as Message);
  // A number without a word comes from a newer API.
  if (type instanceof protobuf.Enum) return type.valuesById[value as number] ?? (value as number);
  return scalarToJson(value);
}
