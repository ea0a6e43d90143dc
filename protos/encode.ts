import protobuf from 'protobufjs';
import { EncodeError } from './encode-error.ts';
import { isDefaultScalar, writeScalar } from './encode-scalar.ts';
import { encodeWellKnown } from './encode-well-known.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { root } from './root.ts';
import { messageName } from './type-url.ts';

export type Any = { readonly type_url: string; readonly value: Uint8Array };

const LENGTH_DELIMITED = 2;
const ANY = '.google.protobuf.Any';

/** Routes are many and mostly unchanged from one compilation to the next: the bytes of the same object are kept. */
const MEMOISED = '.envoy.config.route.v3.Route';
const routeBytes = new WeakMap<JsonObject, Uint8Array>();

/**
 * The only maker of `google.protobuf.Any`: proto3 JSON with `@type` to bytes. Strict: snake_case field names, enum words,
 * "5s" durations; throws EncodeError with the path for an unknown field, a value that does not fit or two members of one oneof.
 * Deterministic: equal JSON gives equal bytes. The JSON must not be changed afterwards.
 */
export function encodeAny(json: JsonObject, path = ''): Any {
  const { '@type': typeUrl, ...fields } = json;
  if (typeof typeUrl !== 'string') throw new EncodeError(`${path}.@type`, 'missing');
  const type = lookup(messageName(typeUrl), path);
  const wrapped = type.fullName.startsWith('.google.protobuf.') && 'value' in fields;
  return { type_url: typeUrl, value: encodeMessage(type, wrapped ? (fields.value as Json) : fields, path) };
}

/** Bytes of one message of the named type, for example `envoy.service.discovery.v3.DiscoveryRequest`; errors as in encodeAny. */
export function encode(typeName: string, json: JsonObject): Uint8Array {
  return encodeMessage(lookup(typeName, ''), json, '');
}

function lookup(typeName: string, path: string): protobuf.Type {
  try {
    return root.lookupType(typeName);
  } catch {
    throw new EncodeError(path, `no message type ${typeName}`);
  }
}

function encodeMessage(type: protobuf.Type, json: Json, path: string): Uint8Array {
  if (type.fullName === ANY && isJsonObject(json)) return encodeNestedAny(json, path);
  const wellKnown = encodeWellKnown(type.fullName, json, path);
  if (wellKnown !== undefined) return wellKnown;
  if (!isJsonObject(json)) throw new EncodeError(path, `want an object for ${type.fullName.slice(1)}`);
  if (type.fullName !== MEMOISED) return encodeFields(type, json, path);
  const known = routeBytes.get(json);
  if (known !== undefined) return known;
  const bytes = encodeFields(type, json, path);
  routeBytes.set(json, bytes);
  return bytes;
}

function encodeNestedAny(json: JsonObject, path: string): Uint8Array {
  const any = encodeAny(json, path);
  const writer = protobuf.Writer.create();
  writer.uint32((1 << 3) | LENGTH_DELIMITED).string(any.type_url);
  if (any.value.length > 0) writer.uint32((2 << 3) | LENGTH_DELIMITED).bytes(any.value);
  return writer.finish();
}

function encodeFields(type: protobuf.Type, json: JsonObject, path: string): Uint8Array {
  const writer = protobuf.Writer.create();
  for (const field of presentFields(type, json, path)) {
    const value = json[field.name];
    if (value === undefined || value === null) continue;
    writeField(writer, field, value, `${path}.${field.name}`);
  }
  return writer.finish();
}

/** The fields that `json` names, in the order of their numbers, so that the order of keys does not change the bytes. */
function presentFields(type: protobuf.Type, json: JsonObject, path: string): protobuf.Field[] {
  const fields: protobuf.Field[] = [];
  const oneofs = new Map<string, string>();
  for (const key of Object.keys(json)) {
    if (json[key] === undefined) continue;
    const field = type.fields[key];
    if (field === undefined)
      throw new EncodeError(`${path}.${key}`, `no such field in ${type.fullName.slice(1)}`);
    const oneof = field.partOf?.name;
    const other = oneof === undefined ? undefined : oneofs.get(oneof);
    if (other !== undefined) throw new EncodeError(path, `${other} and ${key} exclude each other`);
    if (oneof !== undefined) oneofs.set(oneof, key);
    fields.push(field);
  }
  return fields.sort((a, b) => a.id - b.id);
}

function writeField(writer: protobuf.Writer, field: protobuf.Field, json: Json, path: string): void {
  if (field instanceof protobuf.MapField) writeMap(writer, field, json, path);
  else if (field.repeated) writeRepeated(writer, field, json, path);
  else if (isImplicitDefault(field, json)) writeScalar(protobuf.Writer.create(), field.type, json, path);
  else writeTagged(writer, field, json, path);
}

/** Such a value is checked like any other, but proto3 does not send it. */
function isImplicitDefault(field: protobuf.Field, json: Json): boolean {
  return field.resolvedType === null && field.partOf === null && isDefaultScalar(json);
}

function writeMap(writer: protobuf.Writer, field: protobuf.MapField, json: Json, path: string): void {
  if (!isJsonObject(json)) throw new EncodeError(path, 'want an object (map)');
  if (field.keyType !== 'string')
    throw new EncodeError(path, `maps keyed by ${field.keyType} are not supported`);
  for (const key of Object.keys(json).sort()) {
    const value = json[key];
    if (value === undefined) continue;
    writer.uint32((field.id << 3) | LENGTH_DELIMITED).fork();
    writer.uint32((1 << 3) | LENGTH_DELIMITED).string(key);
    writer.uint32((2 << 3) | wireType(field));
    writeValue(writer, field, value, `${path}.${key}`);
    writer.ldelim();
  }
}

function writeRepeated(writer: protobuf.Writer, field: protobuf.Field, json: Json, path: string): void {
  if (!Array.isArray(json)) throw new EncodeError(path, 'want an array');
  const items: readonly Json[] = json;
  if (items.length === 0) return;
  if (wireType(field) === LENGTH_DELIMITED) {
    items.forEach((item, i) => {
      writeTagged(writer, field, item, `${path}[${i}]`);
    });
    return;
  }
  writer.uint32((field.id << 3) | LENGTH_DELIMITED).fork();
  items.forEach((item, i) => {
    writeValue(writer, field, item, `${path}[${i}]`);
  });
  writer.ldelim();
}

function writeTagged(writer: protobuf.Writer, field: protobuf.Field, json: Json, path: string): void {
  writer.uint32((field.id << 3) | wireType(field));
  writeValue(writer, field, json, path);
}

function wireType(field: protobuf.FieldBase): number {
  if (field.resolvedType instanceof protobuf.Type) return LENGTH_DELIMITED;
  if (field.resolvedType instanceof protobuf.Enum) return 0;
  return protobuf.types.basic[field.type as keyof typeof protobuf.types.basic] ?? 0;
}

function writeValue(writer: protobuf.Writer, field: protobuf.FieldBase, json: Json, path: string): void {
  if (field.resolvedType instanceof protobuf.Type)
    writer.bytes(encodeMessage(field.resolvedType, json, path));
  else if (field.resolvedType instanceof protobuf.Enum)
    writer.int32(enumNumber(field.resolvedType, json, path));
  else writeScalar(writer, field.type, json, path);
}

function enumNumber(type: protobuf.Enum, json: Json, path: string): number {
  const number = typeof json === 'string' ? type.values[json] : undefined;
  if (number === undefined) {
    throw new EncodeError(
      path,
      `${JSON.stringify(json)} is not one of ${Object.keys(type.values).join(', ')}`,
    );
  }
  return number;
}
