import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { NEWER_FIELDS } from './envoy-difference.ts';

type NewerField = (typeof NEWER_FIELDS)[number];

/** What of a FileDescriptorProto is looked at. */
type File = { readonly package: string; readonly dependency: readonly string[] };

const { DescriptorProto, FieldDescriptorProto } = descriptor;

/** Tags of length-delimited fields, google/protobuf/descriptor.proto. */
const TAG = { fileDependency: 0x1a, fileMessageType: 0x22, messageField: 0x12 } as const;
const LABEL_OPTIONAL = 1;
const TYPE_MESSAGE = 11;

/**
 * The bytes of a FileDescriptorProto with the newer fields of its messages: who learns the API from
 * us shall see all that we read. Every other byte stays as it is, since protobufjs would lose the
 * options that it does not know.
 */
export function withNewerFields(bytes: Uint8Array, file: File): Uint8Array {
  const newer = NEWER_FIELDS.filter(({ type }) => packageOf(type) === file.package);
  if (newer.length === 0) return bytes;
  const imports = new Set<string>(newer.map(({ declaredIn }) => declaredIn));
  for (const name of file.dependency) imports.delete(name);
  return Buffer.concat([
    ...fieldsOf(bytes).map(field => withFields(field, newer)),
    ...[...imports].map(name => delimited(TAG.fileDependency, Buffer.from(name))),
  ]);
}

/** A field of a FileDescriptorProto: of a message, with those of `newer` that are its own. */
function withFields(field: Uint8Array, newer: readonly NewerField[]): Uint8Array {
  const reader = protobuf.Reader.create(field);
  if (reader.uint32() !== TAG.fileMessageType) return field;
  const message = reader.bytes();
  const { name } = DescriptorProto.decode(message) as unknown as { name: string };
  const own = newer.filter(({ type }) => type === `${packageOf(type)}.${name}`);
  return delimited(TAG.fileMessageType, Buffer.concat([message, ...own.map(fieldBytes)]));
}

function fieldBytes({ name, number, fieldType }: NewerField): Uint8Array {
  const declared = {
    name,
    number,
    label: LABEL_OPTIONAL,
    type: TYPE_MESSAGE,
    typeName: `.${fieldType}`,
  };
  return delimited(TAG.messageField, FieldDescriptorProto.encode(declared).finish());
}

/** Each field of a message, with its tag. */
function fieldsOf(bytes: Uint8Array): Uint8Array[] {
  const reader = protobuf.Reader.create(bytes);
  const fields: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    reader.skipType(reader.uint32() & 7);
    fields.push(bytes.subarray(start, reader.pos));
  }
  return fields;
}

function delimited(tag: number, bytes: Uint8Array): Uint8Array {
  return protobuf.Writer.create().uint32(tag).bytes(bytes).finish();
}

function packageOf(type: string): string {
  return type.slice(0, type.lastIndexOf('.'));
}
