import protobuf from 'protobufjs';
import { EncodeError } from './encode-error.ts';
import { isDefaultScalar, writeScalar } from './encode-scalar.ts';
import { isJsonObject, type Json } from './json.ts';

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;

const WRAPPED: Readonly<Record<string, readonly [scalar: string, wireType: number]>> = {
  '.google.protobuf.DoubleValue': ['double', FIXED64],
  '.google.protobuf.FloatValue': ['float', 5],
  '.google.protobuf.Int64Value': ['int64', VARINT],
  '.google.protobuf.UInt64Value': ['uint64', VARINT],
  '.google.protobuf.Int32Value': ['int32', VARINT],
  '.google.protobuf.UInt32Value': ['uint32', VARINT],
  '.google.protobuf.BoolValue': ['bool', VARINT],
  '.google.protobuf.StringValue': ['string', LENGTH_DELIMITED],
  '.google.protobuf.BytesValue': ['bytes', LENGTH_DELIMITED],
};

/**
 * Bytes of a message whose proto3 JSON form is not an object of its fields (durations, wrappers, Struct and its parts),
 * or undefined when `fullName` is an ordinary message. Source: proto3 JSON mapping, well-known types.
 */
export function encodeWellKnown(fullName: string, json: Json, path: string): Uint8Array | undefined {
  const wrapped = WRAPPED[fullName];
  if (wrapped !== undefined) return encodeWrapper(wrapped, json, path);
  switch (fullName) {
    case '.google.protobuf.Duration':
      return encodeDuration(json, path);
    case '.google.protobuf.Struct':
      return encodeStruct(json, path);
    case '.google.protobuf.Value':
      return encodeValue(json, path);
    case '.google.protobuf.ListValue':
      return encodeList(json, path);
    default:
      return undefined;
  }
}

function encodeWrapper([scalar, wireType]: readonly [string, number], json: Json, path: string): Uint8Array {
  const writer = protobuf.Writer.create();
  if (isDefaultScalar(json)) {
    writeScalar(protobuf.Writer.create(), scalar, json, path);
    return writer.finish();
  }
  writeScalar(writer.uint32((1 << 3) | wireType), scalar, json, path);
  return writer.finish();
}

function encodeDuration(json: Json, path: string): Uint8Array {
  const match = typeof json === 'string' ? /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(json) : null;
  if (match === null)
    throw new EncodeError(path, `want a duration such as "1.5s", got ${JSON.stringify(json)}`);
  const sign = match[1] === '-' ? -1 : 1;
  const seconds = sign * Number(match[2]);
  const nanos = sign * Number((match[3] ?? '').padEnd(9, '0'));
  const writer = protobuf.Writer.create();
  if (seconds !== 0) writer.uint32((1 << 3) | VARINT).int64(seconds);
  if (nanos !== 0) writer.uint32((2 << 3) | VARINT).int32(nanos);
  return writer.finish();
}

function encodeStruct(json: Json, path: string): Uint8Array {
  if (!isJsonObject(json)) throw new EncodeError(path, 'want an object for google.protobuf.Struct');
  const writer = protobuf.Writer.create();
  for (const key of Object.keys(json).sort()) {
    const value = json[key];
    if (value === undefined) continue;
    writer.uint32((1 << 3) | LENGTH_DELIMITED).fork();
    writer.uint32((1 << 3) | LENGTH_DELIMITED).string(key);
    writer.uint32((2 << 3) | LENGTH_DELIMITED).bytes(encodeValue(value, `${path}.${key}`));
    writer.ldelim();
  }
  return writer.finish();
}

function encodeValue(json: Json, path: string): Uint8Array {
  const writer = protobuf.Writer.create();
  if (json === null) writer.uint32((1 << 3) | VARINT).int32(0);
  else if (typeof json === 'number') writer.uint32((2 << 3) | FIXED64).double(json);
  else if (typeof json === 'string') writer.uint32((3 << 3) | LENGTH_DELIMITED).string(json);
  else if (typeof json === 'boolean') writer.uint32((4 << 3) | VARINT).bool(json);
  else if (isJsonObject(json)) writer.uint32((5 << 3) | LENGTH_DELIMITED).bytes(encodeStruct(json, path));
  else writer.uint32((6 << 3) | LENGTH_DELIMITED).bytes(encodeList(json, path));
  return writer.finish();
}

function encodeList(json: Json, path: string): Uint8Array {
  if (!Array.isArray(json)) throw new EncodeError(path, 'want an array for google.protobuf.ListValue');
  const writer = protobuf.Writer.create();
  json.forEach((item: Json, i) => {
    writer.uint32((1 << 3) | LENGTH_DELIMITED).bytes(encodeValue(item, `${path}[${i}]`));
  });
  return writer.finish();
}
