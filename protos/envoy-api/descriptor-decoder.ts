import protobuf from 'protobufjs';
import descriptor from 'protobufjs/google/protobuf/descriptor.json' with { type: 'json' };
import { declarations } from './declarations.ts';

/**
 * What is read of a google.protobuf.FileDescriptorProto. Lists and options that are empty are
 * absent.
 */
export type FileProto = {
  readonly name: string;
  readonly package: string;
  readonly syntax?: string;
  readonly dependency?: readonly string[];
  readonly messageType?: readonly MessageProto[];
  readonly enumType?: readonly EnumProto[];
  readonly service?: readonly ServiceProto[];
};

export type MessageProto = {
  readonly name: string;
  readonly field?: readonly FieldProto[];
  readonly nestedType?: readonly MessageProto[];
  readonly enumType?: readonly EnumProto[];
  readonly oneofDecl?: readonly {
    readonly name: string;
    readonly options?: { readonly required?: true };
  }[];
  readonly options?: { readonly mapEntry?: boolean };
};

export type FieldProto = {
  readonly name: string;
  readonly number: number;
  readonly label: string;
  readonly type: string;
  readonly typeName?: string;
  readonly oneofIndex?: number;
  readonly proto3Optional?: boolean;
  readonly options?: { readonly packed?: boolean; readonly rules?: object };
};

export type EnumProto = {
  readonly name: string;
  readonly value: readonly { readonly name: string; readonly number: number }[];
};

export type ServiceProto = {
  readonly name: string;
  readonly method?: readonly {
    readonly name: string;
    readonly inputType: string;
    readonly outputType: string;
    readonly clientStreaming?: boolean;
    readonly serverStreaming?: boolean;
  }[];
};

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
