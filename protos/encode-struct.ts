import { EncodeError } from './encode-error.ts';
import { SCALARS, type ScalarType } from './encode-scalar.ts';
import { isJsonObject, type Json } from './json.ts';
import { writeDelimited } from './value-encoder.ts';
import { WIRE, type WireWriter } from './wire-writer.ts';

/**
 * Appends the fields of google.protobuf.Struct with sorted keys. Throws EncodeError when the JSON
 * is no object.
 */
export function writeStruct(writer: WireWriter, json: Json, path: string): void {
  if (!isJsonObject(json)) throw new EncodeError(path, 'want an object for google.protobuf.Struct');
  for (const key of Object.keys(json).sort()) {
    const value = json[key];
    if (value === undefined) continue;
    writeNested(writer, 1, path, () => {
      writeScalar(writer, 1, 'string', key, path);
      writeNested(writer, 2, path, () => writeValue(writer, value, `${path}.${key}`));
    });
  }
}

/** Appends the one field of google.protobuf.Value that any JSON has. */
export function writeValue(writer: WireWriter, json: Json, path: string): void {
  if (json === null) writeScalar(writer, 1, 'int32', 0, path);
  else if (typeof json === 'number') writeScalar(writer, 2, 'double', json, path);
  else if (typeof json === 'string') writeScalar(writer, 3, 'string', json, path);
  else if (typeof json === 'boolean') writeScalar(writer, 4, 'bool', json, path);
  else if (isJsonObject(json)) writeNested(writer, 5, path, () => writeStruct(writer, json, path));
  else writeNested(writer, 6, path, () => writeList(writer, json, path));
}

function writeScalar(
  writer: WireWriter,
  field: number,
  type: ScalarType,
  json: Json,
  path: string,
): void {
  writer.tag(field, SCALARS[type].wireType);
  SCALARS[type].write(writer, json, path);
}

/**
 * Appends the fields of google.protobuf.ListValue. Throws EncodeError when the JSON is no array.
 */
export function writeList(writer: WireWriter, json: Json, path: string): void {
  if (!Array.isArray(json))
    throw new EncodeError(path, 'want an array for google.protobuf.ListValue');
  json.forEach((item: Json, i) => {
    writeNested(writer, 1, path, () => writeValue(writer, item, `${path}[${i}]`));
  });
}

function writeNested(writer: WireWriter, field: number, path: string, write: () => void): void {
  writer.tag(field, WIRE.lengthDelimited);
  writeDelimited(writer, path, write);
}
