import { openAny } from './any.ts';
import { checkRules } from './check-rules.ts';
import { EncodeError } from './encode-error.ts';
import { messageEncoder } from './encode-message.ts';
import type { JsonObject } from './json.ts';
import { findType } from './root.ts';
import { WireWriter } from './wire-writer.ts';

/** One for all messages, because a large one would leave each smaller buffer as garbage. */
const writer = new WireWriter();

export type Any = { readonly type_url: string; readonly value: Uint8Array };

/**
 * Encodes proto3 JSON with `@type`. This is the only maker of `google.protobuf.Any`. It is strict
 * about snake_case field names, enum words and "5s" durations. Throws EncodeError with the path in
 * these cases:
 *
 * - an unknown field, or a value that does not fit
 * - two members of one oneof
 * - a breach of the rules in the .proto files, by which Envoy would reject it
 *
 * Equal JSON gives equal bytes. The JSON must not be changed afterwards.
 */
export function encodeAny(json: JsonObject, path = ''): Any {
  const { typeUrl, type, content } = openAny(json, path);
  writer.clear();
  messageEncoder(type)(writer, content, path);
  checkRules(type, content, path);
  return { type_url: typeUrl, value: writer.copy() };
}

/**
 * Encodes one message of the named type, for example `envoy.service.discovery.v3.DiscoveryRequest`.
 * Throws as encodeAny does, except that the rules of the .proto files are not checked.
 */
export function encode(typeName: string, json: JsonObject): Uint8Array {
  const type = findType(typeName);
  if (type === undefined) throw new EncodeError('', `no message type ${typeName}`);
  writer.clear();
  messageEncoder(type)(writer, json, '');
  return writer.copy();
}
