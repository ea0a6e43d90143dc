import type { Json } from './json.ts';

/**
 * Converts one scalar from the form of protobufjs (64-bit integers as Long, bytes as Uint8Array) to
 * proto3 JSON.
 */
export function scalarToJson(value: unknown): Json {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return toBase64(value);
  return String(value);
}

/** Tells whether proto3 does not send this value where a field has no presence. */
export function isDefaultValue(value: unknown): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  if (typeof value === 'string') return value === '';
  return value === false || String(value) === '0';
}

/** Encodes in the standard alphabet, padded. Source: proto3 JSON mapping, bytes. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
