import type { Message } from './decode-bytes.ts';
import { scalarToJson } from './decode-scalar.ts';
import { formatDuration } from './duration.ts';
import type { Json, JsonObject } from './json.ts';
import { formatTimestamp } from './timestamp.ts';

type MessageDecoder = (message: Message) => Json;

/**
 * Decoders of the messages whose proto3 JSON is not an object of their fields, by full name. The
 * inverse of WELL_KNOWN.
 */
export const FROM_WELL_KNOWN: ReadonlyMap<string, MessageDecoder> = new Map([
  ...['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'].map(
    wrapped => [`.google.protobuf.${wrapped}Value`, unwrap] as const,
  ),
  ['.google.protobuf.Duration', message => formatDuration(toTime(message))],
  ['.google.protobuf.Timestamp', message => formatTimestamp(toTime(message))],
  ['.google.protobuf.Struct', structToJson],
  ['.google.protobuf.Value', valueToJson],
  ['.google.protobuf.ListValue', listToJson],
]);

function unwrap(message: Message): Json {
  return scalarToJson(message.value);
}

function toTime(message: Message): { seconds: number; nanos: number } {
  return { seconds: Number(message.seconds), nanos: Number(message.nanos) };
}

function structToJson(message: Message): JsonObject {
  const entries = Object.entries(message.fields as Readonly<Record<string, Message>>);
  return Object.fromEntries(entries.map(([key, value]) => [key, valueToJson(value)]));
}

function valueToJson(message: Message): Json {
  if (Object.hasOwn(message, 'struct_value')) return structToJson(message.struct_value as Message);
  if (Object.hasOwn(message, 'list_value')) return listToJson(message.list_value as Message);
  for (const kind of ['number_value', 'string_value', 'bool_value']) {
    if (Object.hasOwn(message, kind)) return scalarToJson(message[kind]);
  }
  return null;
}

function listToJson(message: Message): Json {
  return (message.values as readonly Message[]).map(valueToJson);
}
