import { EncodeError, show } from './encode-error.ts';
import type { Json } from './json.ts';
import type { ValueEncoder } from './value-encoder.ts';
import { WIRE, type WireWriter } from './wire-writer.ts';

/**
 * The scalar types by name. Source: proto3 JSON mapping, scalar rows (integers also in quotes,
 * without exponent).
 */
export const SCALARS = {
  string: { wireType: WIRE.lengthDelimited, write: writeString, isDefault: isEmptyText },
  bytes: { wireType: WIRE.lengthDelimited, write: writeBytes, isDefault: isEmptyText },
  bool: { wireType: WIRE.varint, write: writeBool, isDefault: json => json === false },
  float: { wireType: WIRE.fixed32, write: writeFloat, isDefault: json => json === 0 },
  double: { wireType: WIRE.fixed64, write: writeDouble, isDefault: json => json === 0 },
  int32: integer('varint', -(2n ** 31n), 2n ** 31n - 1n),
  sint32: integer('zigzag', -(2n ** 31n), 2n ** 31n - 1n),
  sfixed32: integer('fixed32', -(2n ** 31n), 2n ** 31n - 1n),
  uint32: integer('varint', 0n, 2n ** 32n - 1n),
  fixed32: integer('fixed32', 0n, 2n ** 32n - 1n),
  int64: integer('varint', -(2n ** 63n), 2n ** 63n - 1n),
  sint64: integer('zigzag', -(2n ** 63n), 2n ** 63n - 1n),
  sfixed64: integer('fixed64', -(2n ** 63n), 2n ** 63n - 1n),
  uint64: integer('varint', 0n, 2n ** 64n - 1n),
  fixed64: integer('fixed64', 0n, 2n ** 64n - 1n),
} as const satisfies Readonly<Record<string, ValueEncoder>>;

export type ScalarType = keyof typeof SCALARS;

export function isScalarType(type: string): type is ScalarType {
  return Object.hasOwn(SCALARS, type);
}

const FLOAT_MAX = 2 ** 128 - 2 ** 104;

type IntegerForm = 'varint' | 'zigzag' | 'fixed32' | 'fixed64';

function integer(form: IntegerForm, min: bigint, max: bigint): ValueEncoder {
  const wireType = form === 'zigzag' ? WIRE.varint : WIRE[form];
  const least = Number(min);
  const most = Number.isSafeInteger(Number(max)) ? Number(max) : Number.MAX_SAFE_INTEGER;
  const write = (writer: WireWriter, json: Json, path: string) => {
    if (form === 'varint' && typeof json === 'number' && isIn(json, Math.max(least, 0), most))
      writer.varint(json);
    else writeInteger(writer, form, toInteger(json, min, max, path));
  };
  return { wireType, write, isDefault: json => json === 0 || json === '0' };
}

function isIn(json: number, least: number, most: number): boolean {
  return Number.isInteger(json) && json >= least && json <= most;
}

function writeInteger(writer: WireWriter, form: IntegerForm, value: bigint): void {
  if (form === 'fixed32') writer.fixed32(value);
  else if (form === 'fixed64') writer.fixed64(value);
  else if (form === 'zigzag') writer.varint64(value < 0n ? -2n * value - 1n : 2n * value);
  else writer.varint64(value);
}

function toInteger(json: Json, min: bigint, max: bigint, path: string): bigint {
  const whole = typeof json === 'number' ? Number.isSafeInteger(json) : isDigits(json);
  if (!whole) throw new EncodeError(path, `want an integer, got ${show(json)}`);
  const value = BigInt(json as number | string);
  if (value >= min && value <= max) return value;
  throw new EncodeError(path, `${value} is out of range, want ${min} to ${max}`);
}

function isDigits(json: Json): boolean {
  return typeof json === 'string' && /^(0|-?[1-9]\d{0,19})$/.test(json);
}

function writeFloat(writer: WireWriter, json: Json, path: string): void {
  const value = toNumber(json, path);
  if (Number.isFinite(value) && Math.abs(value) > FLOAT_MAX)
    throw new EncodeError(path, `${value} is out of range for a float`);
  writer.float(value);
}

function writeDouble(writer: WireWriter, json: Json, path: string): void {
  writer.double(toNumber(json, path));
}

function toNumber(json: Json, path: string): number {
  if (typeof json === 'number' && Number.isFinite(json)) return json;
  if (json === 'NaN' || json === 'Infinity' || json === '-Infinity') return Number(json);
  throw new EncodeError(path, `want a number, got ${show(json)}`);
}

function writeString(writer: WireWriter, json: Json, path: string): void {
  // The value may be a secret that stands in the place of a string. So the error names its type,
  // not its value.
  if (typeof json !== 'string') throw new EncodeError(path, `want a string, got ${typeof json}`);
  if (!json.isWellFormed()) throw new EncodeError(path, 'half a surrogate pair has no UTF-8');
  writer.string(json);
}

function writeBytes(writer: WireWriter, json: Json, path: string): void {
  if (typeof json !== 'string' || !isBase64(json)) throw new EncodeError(path, 'want base64');
  writer.bytes(Buffer.from(json, 'base64'));
}

/**
 * Accepts standard or URL-safe base64, padded or not. Source: proto3 JSON mapping, bytes, and RFC
 * 4648.
 */
function isBase64(text: string): boolean {
  const padded = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)(={0,2})$/.exec(text);
  if (padded === null) return false;
  return padded[1] === '' ? text.length % 4 !== 1 : text.length % 4 === 0;
}

function writeBool(writer: WireWriter, json: Json, path: string): void {
  if (typeof json !== 'boolean')
    throw new EncodeError(path, `want true or false, got ${show(json)}`);
  writer.varint(json ? 1 : 0);
}

function isEmptyText(json: Json): boolean {
  return json === '';
}
