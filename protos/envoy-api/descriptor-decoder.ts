import protobuf from 'protobufjs';
import descriptor from 'protobufjs/google/protobuf/descriptor.json' with { type: 'json' };
import { declarations, type FileProto } from './declarations.ts';

/** Source: validate/validate.proto, the extensions of FieldOptions and OneofOptions. */
const VALIDATE = 1071;

/**
 * Returns what decodes a FileDescriptorProto, with the rules of its fields and oneofs. `rules` are
 * the FileDescriptorProtos of validate/validate.proto, which declares them, and of what it uses.
 */
export function descriptorDecoder(rules: readonly Uint8Array[]): (bytes: Uint8Array) => FileProto {
  const root = protobuf.Root.fromJSON(descriptor);
  for (const file of rules.map(decoder(protobuf.Root.fromJSON(descriptor))))
    root.define(file.package).addJSON(declarations(file));
  const options = (name: string) => root.lookupType(`google.protobuf.${name}`);
  options('FieldOptions').add(new protobuf.Field('rules', VALIDATE, 'validate.FieldRules'));
  options('OneofOptions').add(new protobuf.Field('required', VALIDATE, 'bool'));
  return decoder(root);
}

function decoder(root: protobuf.Root): (bytes: Uint8Array) => FileProto {
  const type = root.lookupType('google.protobuf.FileDescriptorProto');
  return bytes => type.toObject(type.decode(bytes), { enums: String, longs: Number }) as FileProto;
}
