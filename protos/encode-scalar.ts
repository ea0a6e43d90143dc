import type protobuf from 'protobufjs';
import { EncodeError } from './encode-error.ts';
import type { Json } from './json.ts';

const RANGES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  sint32: [-(2n ** 31n), 2n ** 31n - 1n],
  sfixed32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  fixed32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  sint64: [-(2n ** 63n), 2n ** 63n - 1n],
  sfixed64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
  fixed64: [0n, 2n ** 64n - 1n],
};

/** Appends one scalar without its tag. Source: proto3 JSON mapping, scalar rows. Throws EncodeError when it does not fit. */
export function writeScalar(writer: protobuf.Writer, type: string, json: Json, path: string): void {
  switch (type) {
    case 'string':
      writer.string(string(json, path));
      return;
    case 'bool':
      writer.bool(boolean(json, path));
      return;
    case 'bytes':
      writer.bytes(base64(json, path));
      return;
    case 'double':
      writer.double(float(json, path));
      return;
    case 'float':
      writer.float(float(json, path));
      return;
    default:
      writeInteger(writer, type, json, path);
  }
}

/** True for a scalar that proto3 leaves out when the field has no presence. Source: proto3 language guide, default values. */
export function isDefaultScalar(json: Json): boolean {
  return json === 0 || json === '' || json === false || json === '0';
}

function writeInteger(writer: protobuf.Writer, type: string, json: Json, path: string): void {
  const range = RANGES[type];
  if (range === undefined) throw new EncodeError(path, `unknown scalar type ${type}`);
  const value = integer(json, path);
  if (value < range[0] || value > range[1])
    throw new EncodeError(path, `${value} is out of range for ${type}`);
  const method = type as 'int32' | 'uint32' | 'sint32' | 'fixed32' | 'sfixed32';
  if (type.endsWith('32')) writer[method](Number(value));
  else writer[type as 'int64' | 'uint64' | 'sint64' | 'fixed64' | 'sfixed64'](String(value));
}

function integer(json: Json, path: string): bigint {
  if (typeof json === 'number' && Number.isSafeInteger(json)) return BigInt(json);
  if (typeof json === 'string' && /^-?\d{1,20}$/.test(json)) return BigInt(json);
  throw new EncodeError(path, `want an integer, got ${JSON.stringify(json)}`);
}

function float(json: Json, path: string): number {
  if (typeof json === 'number') return json;
  if (json === 'NaN' || json === 'Infinity' || json === '-Infinity') return Number(json);
  throw new EncodeError(path, `want a number, got ${JSON.stringify(json)}`);
}

function base64(json: Json, path: string): Uint8Array {
  const text = string(json, path);
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw new EncodeError(path, 'want base64');
  return Buffer.from(text, 'base64');
}

function string(json: Json, path: string): string {
  if (typeof json === 'string') return json;
  throw new EncodeError(path, `want a string, got ${JSON.stringify(json)}`);
}

function boolean(json: Json, path: string): boolean {
  if (typeof json === 'boolean') return json;
  throw new EncodeError(path, `want true or false, got ${JSON.stringify(json)}`);
}
