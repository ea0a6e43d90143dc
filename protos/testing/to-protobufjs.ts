import protobuf from 'protobufjs';
import type { Json, JsonObject } from '../json.ts';
import { findType } from '../root.ts';

/**
 * Converts proto3 JSON to the object that protobufjs's fromObject wants, without our encoder. Tests
 * compare the two.
 */
export function toProtobufjs(type: protobuf.Type, json: Json): unknown {
  if (type.fullName === '.google.protobuf.Any') return toAny(json as JsonObject);
  if (/^\.google\.protobuf\.\w+Value$/.test(type.fullName) && type.fields.value !== undefined)
    return isDefault(json) ? {} : { value: json };
  switch (type.fullName) {
    case '.google.protobuf.Duration':
      return toDuration(json as string);
    case '.google.protobuf.Timestamp':
      return toTimestamp(json as string);
    case '.google.protobuf.Struct':
      return toStruct(json as JsonObject);
    case '.google.protobuf.Value':
      return toValue(json);
    case '.google.protobuf.ListValue':
      return { values: (json as readonly Json[]).map(toValue) };
    default:
      return mapValues(json as JsonObject, (value, name) =>
        toField(type.fields[name] as protobuf.Field, value),
      );
  }
}

function toField(field: protobuf.Field, json: Json): unknown {
  if (field.map) return mapValues(json as JsonObject, value => toItem(field, value));
  return field.repeated
    ? (json as readonly Json[]).map(item => toItem(field, item))
    : toItem(field, json);
}

function toItem(field: protobuf.Field, json: Json): unknown {
  return field.resolvedType instanceof protobuf.Type
    ? toProtobufjs(field.resolvedType, json)
    : json;
}

function toAny({ '@type': typeUrl, ...content }: JsonObject): object {
  const type = findType(String(typeUrl).replace('type.googleapis.com/', '')) as protobuf.Type;
  const json = type.fullName.startsWith('.google.') ? (content.value as Json) : content;
  const message = type.fromObject(toProtobufjs(type, json) as object);
  return { type_url: typeUrl, value: type.encode(message).finish() };
}

function toDuration(text: string): object {
  const [seconds = '', fraction = ''] = text.slice(0, -1).split('.');
  const nanos = Number(fraction.padEnd(9, '0'));
  const duration = { seconds: Number(seconds), nanos: text.startsWith('-') ? -nanos : nanos };
  return Object.fromEntries(Object.entries(duration).filter(([, value]) => value !== 0));
}

function toTimestamp(text: string): object {
  const milliseconds = Date.parse(text);
  return { seconds: Math.floor(milliseconds / 1000), nanos: (milliseconds % 1000) * 1e6 };
}

function toStruct(json: JsonObject): object {
  return { fields: mapValues(json, toValue) };
}

function toValue(json: Json): object {
  if (json === null) return { null_value: 0 };
  if (typeof json === 'number') return { number_value: json };
  if (typeof json === 'string') return { string_value: json };
  if (typeof json === 'boolean') return { bool_value: json };
  if (Array.isArray(json)) return { list_value: { values: json.map(toValue) } };
  return { struct_value: toStruct(json as JsonObject) };
}

/** protobufjs sends a default that its object names, and proto3 does not. */
function isDefault(json: Json): boolean {
  return json === 0 || json === '0' || json === '' || json === false;
}

/** Sorts the entries, because protobufjs writes a map in the order of the object. */
function mapValues(json: JsonObject, change: (value: Json, name: string) => unknown): object {
  const names = Object.keys(json).sort();
  return Object.fromEntries(names.map(name => [name, change(json[name] as Json, name)]));
}
