import { parseDuration } from '#protos/duration.ts';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';

/**
 * A message of the control plane is not what it must be. The text names the field, never its value.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** Reads a text of a message in proto3 JSON, where a field that has its default is missing. */
export function textAt(message: JsonObject, field: string): string {
  const value = message[field] ?? '';
  if (typeof value !== 'string') throw new WireError(`${field} is not a string`);
  return value;
}

/** @returns undefined for an empty text */
export function optionalText(message: JsonObject, field: string): string | undefined {
  return textAt(message, field) || undefined;
}

/** Reads a text that may not be empty. */
export function requiredText(message: JsonObject, field: string): string {
  const value = textAt(message, field);
  if (value === '') throw new WireError(`${field} is empty`);
  return value;
}

export function flagAt(message: JsonObject, field: string): boolean {
  return message[field] === true;
}

/** Reads a duration in ms. A field that is missing is 0. */
export function durationAt(message: JsonObject, field: string): number {
  const duration = parseDuration(message[field] ?? '0s');
  if (duration === undefined) throw new WireError(`${field} is not a duration`);
  return duration.seconds * 1000 + duration.nanos / 1e6;
}

export function messageAt(message: JsonObject, field: string): JsonObject | undefined {
  const value = message[field];
  return value !== undefined && isJsonObject(value) ? value : undefined;
}

function listAt(message: JsonObject, field: string): readonly Json[] {
  const value = message[field];
  return Array.isArray(value) ? value : [];
}

export function messagesAt(message: JsonObject, field: string): readonly JsonObject[] {
  return listAt(message, field).filter(isJsonObject);
}

export function textsAt(message: JsonObject, field: string): readonly string[] {
  return listAt(message, field).filter(value => typeof value === 'string');
}

/** Returns the word that an enumeration's value stands for. The first is the default. */
export function wordAt<T extends string>(
  message: JsonObject,
  field: string,
  words: ReadonlyMap<string, T>,
): T {
  const [first] = words.keys();
  const value = message[field] ?? first;
  const word = typeof value === 'string' ? words.get(value) : undefined;
  if (word === undefined) throw new WireError(`${field} is not known`);
  return word;
}
