import { parseDuration } from './duration.ts';
import { EncodeError, show } from './encode-error.ts';
import { SCALARS, type ScalarType } from './encode-scalar.ts';
import { writeList, writeStruct, writeValue } from './encode-struct.ts';
import type { Json } from './json.ts';
import { parseTimestamp } from './timestamp.ts';
import { WIRE, type WireWriter } from './wire-writer.ts';

/**
 * Appends the fields of one message of a well-known type. Throws EncodeError when the JSON does not
 * fit.
 */
type MessageEncoder = (writer: WireWriter, json: Json, path: string) => void;

/**
 * Encoders of the messages whose proto3 JSON is not an object of their fields, by full name.
 * Source: proto3 JSON mapping, well-known types. FieldMask is not among them, because nothing that
 * we encode has one.
 */
export const WELL_KNOWN: ReadonlyMap<string, MessageEncoder> = new Map([
  ['.google.protobuf.DoubleValue', wrapper('double')],
  ['.google.protobuf.FloatValue', wrapper('float')],
  ['.google.protobuf.Int64Value', wrapper('int64')],
  ['.google.protobuf.UInt64Value', wrapper('uint64')],
  ['.google.protobuf.Int32Value', wrapper('int32')],
  ['.google.protobuf.UInt32Value', wrapper('uint32')],
  ['.google.protobuf.BoolValue', wrapper('bool')],
  ['.google.protobuf.StringValue', wrapper('string')],
  ['.google.protobuf.BytesValue', wrapper('bytes')],
  ['.google.protobuf.Duration', writeDuration],
  ['.google.protobuf.Timestamp', writeTimestamp],
  ['.google.protobuf.Struct', writeStruct],
  ['.google.protobuf.Value', writeValue],
  ['.google.protobuf.ListValue', writeList],
]);

function wrapper(type: ScalarType): MessageEncoder {
  const scalar = SCALARS[type];
  return (writer, json, path) => {
    if (scalar.isDefault(json)) return;
    writer.tag(1, scalar.wireType);
    scalar.write(writer, json, path);
  };
}

function writeDuration(writer: WireWriter, json: Json, path: string): void {
  const duration = parseDuration(json);
  if (duration === undefined)
    throw new EncodeError(path, `want a duration such as "1.5s", got ${show(json)}`);
  writeSeconds(writer, duration);
}

function writeTimestamp(writer: WireWriter, json: Json, path: string): void {
  const timestamp = parseTimestamp(json);
  if (timestamp === undefined)
    throw new EncodeError(path, `want a time such as "2024-01-31T12:00:00Z", got ${show(json)}`);
  writeSeconds(writer, timestamp);
}

function writeSeconds(
  writer: WireWriter,
  time: { readonly seconds: number; readonly nanos: number },
): void {
  writeInteger(writer, 1, time.seconds);
  writeInteger(writer, 2, time.nanos);
}

function writeInteger(writer: WireWriter, field: number, value: number): void {
  if (value === 0) return;
  writer.tag(field, WIRE.varint);
  writer.varint64(BigInt(value));
}
