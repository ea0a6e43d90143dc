import protobuf from 'protobufjs';
import { ANY, isEmptyAny, openAny } from './any.ts';
import { enumEncoder } from './encode-enum.ts';
import { EncodeError } from './encode-error.ts';
import { type FieldEncoder, fieldEncoder } from './encode-field.ts';
import { isScalarType, SCALARS } from './encode-scalar.ts';
import { WELL_KNOWN } from './encode-well-known.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { type ValueEncoder, writeDelimited } from './value-encoder.ts';
import { WIRE, type WireWriter } from './wire-writer.ts';

/**
 * The bytes of the same object of this type are cached. There are many routes, and most do not
 * change from one compilation to the next.
 */
const MEMOISED = '.envoy.config.route.v3.Route';
const memo = new WeakMap<JsonObject, Uint8Array>();

/**
 * Appends the fields of one message. Throws EncodeError, whose path begins with `path`, when the
 * JSON does not fit.
 */
type MessageEncoder = (writer: WireWriter, json: Json, path: string) => void;

type FieldPlan = {
  readonly name: string;
  readonly id: number;
  readonly oneof: string | undefined;
  readonly takesNull: boolean;
  readonly write: FieldEncoder;
};

/** Computed once per type, because protobufjs computes a type's name again at each access. */
const encoders = new WeakMap<protobuf.Type, MessageEncoder>();

/** Returns the encoder of messages of `type`. */
export function messageEncoder(type: protobuf.Type): MessageEncoder {
  const known = encoders.get(type);
  if (known !== undefined) return known;
  const encoder =
    type.fullName === ANY ? writeAny : (WELL_KNOWN.get(type.fullName) ?? fieldsEncoder(type));
  encoders.set(type, encoder);
  return encoder;
}

function writeAny(writer: WireWriter, json: Json, path: string): void {
  if (!isJsonObject(json)) throw new EncodeError(path, 'want an object with "@type"');
  if (isEmptyAny(json, path)) return;
  const { typeUrl, type, content } = openAny(json, path);
  writer.tag(1, WIRE.lengthDelimited);
  writer.string(typeUrl);
  writer.tag(2, WIRE.lengthDelimited);
  writeDelimited(writer, path, () => messageEncoder(type)(writer, content, path));
}

function fieldsEncoder(type: protobuf.Type): MessageEncoder {
  const name = type.fullName.slice(1);
  const plan = new Map(type.fieldsArray.map(field => [field.name, planField(field)]));
  return (writer, json, path) => {
    if (!isJsonObject(json)) throw new EncodeError(path, `want an object for ${name}`);
    for (const field of presentFields(name, plan, json, path)) {
      field.write(writer, json[field.name] as Json, `${path}.${field.name}`);
    }
  };
}

/**
 * Returns the fields that `json` names, in the order of their numbers, so that the order of keys
 * does not change the bytes.
 */
function presentFields(
  typeName: string,
  plan: ReadonlyMap<string, FieldPlan>,
  json: JsonObject,
  path: string,
): FieldPlan[] {
  const fields: FieldPlan[] = [];
  for (const key of Object.keys(json)) {
    const field = plan.get(key);
    if (field === undefined)
      throw new EncodeError(`${path}.${key}`, `no such field in ${typeName}`);
    if (isAbsent(json[key], field)) continue;
    const rival =
      field.oneof === undefined ? undefined : fields.find(({ oneof }) => oneof === field.oneof);
    if (rival !== undefined)
      throw new EncodeError(path, `${rival.name} and ${key} exclude each other`);
    fields.push(field);
  }
  return fields.sort((a, b) => a.id - b.id);
}

/**
 * Null is an absent field, except as a value of google.protobuf.Value. Source: proto3 JSON mapping.
 */
function isAbsent(json: Json | undefined, field: FieldPlan): boolean {
  return json === undefined || (json === null && !field.takesNull);
}

function planField(field: protobuf.Field): FieldPlan {
  return {
    name: field.name,
    id: field.id,
    oneof: field.partOf?.name,
    takesNull:
      !field.repeated && !field.map && field.resolvedType?.fullName === '.google.protobuf.Value',
    write: fieldEncoder(field, valueEncoder(field)),
  };
}

function valueEncoder(field: protobuf.Field): ValueEncoder {
  if (field.resolvedType instanceof protobuf.Type) return nestedEncoder(field.resolvedType);
  if (field.resolvedType instanceof protobuf.Enum) return enumEncoder(field.resolvedType);
  if (isScalarType(field.type)) return SCALARS[field.type];
  throw new Error(`${field.fullName}: no encoder for ${field.type}`);
}

function nestedEncoder(type: protobuf.Type): ValueEncoder {
  const writeNew = (writer: WireWriter, json: Json, path: string) =>
    writeDelimited(writer, path, () => messageEncoder(type)(writer, json, path));
  const write = type.fullName === MEMOISED ? memoised(writeNew) : writeNew;
  return { wireType: WIRE.lengthDelimited, write, isDefault: () => false };
}

function memoised(
  writeNew: (writer: WireWriter, json: Json, path: string) => number,
): MessageEncoder {
  return (writer, json, path) => {
    const known = isJsonObject(json) ? memo.get(json) : undefined;
    if (known !== undefined) return writer.bytes(known);
    const start = writeNew(writer, json, path);
    if (isJsonObject(json)) memo.set(json, writer.copy(start));
  };
}
