import protobuf from 'protobufjs';
import { EncodeError } from './encode-error.ts';
import { SCALARS } from './encode-scalar.ts';
import { isJsonObject, type Json } from './json.ts';
import { type ValueEncoder, writeDelimited } from './value-encoder.ts';
import { WIRE, type WireWriter } from './wire-writer.ts';

/**
 * Appends one field with its tag, or nothing where proto3 sends nothing. Throws EncodeError when
 * the JSON does not fit.
 */
export type FieldEncoder = (writer: WireWriter, json: Json, path: string) => void;

/**
 * Returns the encoder of `field`, whose values `value` writes. Source: protobuf.dev, Encoding and
 * Field Presence.
 */
export function fieldEncoder(field: protobuf.Field, value: ValueEncoder): FieldEncoder {
  if (field instanceof protobuf.MapField) return mapField(field, value);
  if (field.repeated && value.wireType !== WIRE.lengthDelimited)
    return packedField(field.id, value);
  if (field.repeated) return repeatedField(field.id, value);
  // A oneof's member, and so a proto3 `optional` field, is sent when it is set, whatever its value.
  return field.partOf === null ? implicitField(field.id, value) : presentField(field.id, value);
}

function presentField(id: number, value: ValueEncoder): FieldEncoder {
  return (writer, json, path) => {
    writer.tag(id, value.wireType);
    value.write(writer, json, path);
  };
}

function implicitField(id: number, value: ValueEncoder): FieldEncoder {
  const write = presentField(id, value);
  return (writer, json, path) => {
    if (!value.isDefault(json)) write(writer, json, path);
  };
}

function repeatedField(id: number, value: ValueEncoder): FieldEncoder {
  const write = presentField(id, value);
  return (writer, json, path) => {
    for (const [i, item] of toItems(json, path).entries()) write(writer, item, `${path}[${i}]`);
  };
}

function packedField(id: number, value: ValueEncoder): FieldEncoder {
  return (writer, json, path) => {
    const items = toItems(json, path);
    if (items.length === 0) return;
    writer.tag(id, WIRE.lengthDelimited);
    writeDelimited(writer, path, () => {
      for (const [i, item] of items.entries()) value.write(writer, item, `${path}[${i}]`);
    });
  };
}

function mapField(field: protobuf.MapField, value: ValueEncoder): FieldEncoder {
  if (field.keyType !== 'string')
    throw new Error(`${field.fullName}: maps keyed by ${field.keyType} have no encoder`);
  return (writer, json, path) => {
    if (!isJsonObject(json)) throw new EncodeError(path, 'want an object (map)');
    for (const key of Object.keys(json).sort()) {
      const item = json[key];
      if (item !== undefined) writeEntry(writer, field.id, key, value, item, `${path}.${key}`);
    }
  };
}

function writeEntry(
  writer: WireWriter,
  id: number,
  key: string,
  value: ValueEncoder,
  json: Json,
  path: string,
): void {
  writer.tag(id, WIRE.lengthDelimited);
  writeDelimited(writer, path, () => {
    writer.tag(1, SCALARS.string.wireType);
    SCALARS.string.write(writer, key, path);
    writer.tag(2, value.wireType);
    value.write(writer, json, path);
  });
}

function toItems(json: Json, path: string): readonly Json[] {
  if (Array.isArray(json)) return json;
  throw new EncodeError(path, 'want an array');
}
