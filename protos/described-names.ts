import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { camelCase } from './camel-case.ts';

type Rewrite = (content: Uint8Array) => Uint8Array;

/** Tags of google/protobuf/descriptor.proto. */
const TAG = {
  fileMessage: 0x22,
  messageField: 0x12,
  messageNested: 0x1a,
  fieldJsonName: 0x52,
} as const;

/**
 * Returns a FileDescriptorProto with the JSON names of its fields, which Envoy leaves out and
 * clients expect. Every other byte stays, since protobufjs would lose the options that it does not
 * know.
 */
export function withJsonNames(file: Uint8Array): Uint8Array {
  return rewritten(file, new Map([[TAG.fileMessage, inMessage]]));
}

function inMessage(message: Uint8Array): Uint8Array {
  const inside = new Map([
    [TAG.messageField, inField],
    [TAG.messageNested, inMessage],
  ]);
  return rewritten(message, inside);
}

function inField(field: Uint8Array): Uint8Array {
  const { name } = descriptor.FieldDescriptorProto.decode(field) as unknown as { name: string };
  const added = protobuf.Writer.create().uint32(TAG.fieldJsonName).string(camelCase(name)).finish();
  return Buffer.concat([field, added]);
}

/** Returns a message with the content of some fields, by tag, replaced. */
function rewritten(message: Uint8Array, fields: ReadonlyMap<number, Rewrite>): Uint8Array {
  const reader = protobuf.Reader.create(message);
  const parts: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const begin = reader.pos;
    const tag = reader.uint32();
    const rewrite = fields.get(tag);
    if (rewrite === undefined) reader.skipType(tag & 7);
    parts.push(
      rewrite === undefined
        ? message.subarray(begin, reader.pos)
        : protobuf.Writer.create().uint32(tag).bytes(rewrite(reader.bytes())).finish(),
    );
  }
  return Buffer.concat(parts);
}
