import type protobuf from 'protobufjs';

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

type Declarations = Record<string, protobuf.AnyNestedObject>;

/**
 * Returns what a file declares, in the form of protobufjs. Types have full names, and
 * protoc-gen-validate's rules are options of fields and oneofs. Extensions are left out.
 */
export function declarations(file: FileProto): Declarations {
  const edition = file.syntax ?? 'proto2';
  const declared = [
    ...(file.messageType ?? []).map(message => [message.name, messageJson(message)] as const),
    ...(file.enumType ?? []).map(each => [each.name, enumJson(each)] as const),
    ...(file.service ?? []).map(service => [service.name, serviceJson(service)] as const),
  ];
  return Object.fromEntries(declared.map(([name, json]) => [name, { ...json, edition }]));
}

function messageJson(message: MessageProto): protobuf.IType {
  const nested = (message.nestedType ?? []).filter(each => !isMapEntry(each));
  return {
    oneofs: oneofsJson(message),
    fields: Object.fromEntries(
      (message.field ?? []).map(field => [field.name, fieldJson(message, field)]),
    ),
    nested: Object.fromEntries([
      ...nested.map(each => [each.name, messageJson(each)] as const),
      ...(message.enumType ?? []).map(each => [each.name, enumJson(each)] as const),
    ]),
  };
}

function oneofsJson({ field = [], oneofDecl = [] }: MessageProto): Record<string, protobuf.IOneOf> {
  return Object.fromEntries(
    oneofDecl.map(({ name, options }, index) => {
      const members = field.filter(({ oneofIndex }) => oneofIndex === index);
      const rules = options?.required === true ? { options: { '(validate.required)': true } } : {};
      return [name, { oneof: members.map(member => member.name), ...rules }];
    }),
  );
}

function fieldJson(message: MessageProto, field: FieldProto): protobuf.IField {
  const { proto3Optional, options: { packed, rules } = {} } = field;
  const options = {
    ...(proto3Optional === true && { proto3_optional: true }),
    ...(packed !== undefined && { packed }),
    ...(rules !== undefined && { '(validate.rules)': rules }),
  };
  const rest = { id: field.number, ...(Object.keys(options).length > 0 && { options }) };
  const [key, value] = mapEntry(message, field)?.field ?? [];
  if (key !== undefined && value !== undefined)
    return { keyType: typeOf(key), type: typeOf(value), ...rest } as protobuf.IMapField;
  const rule = field.label.replace('LABEL_', '').toLowerCase();
  return { ...(rule !== 'optional' && { rule }), type: typeOf(field), ...rest };
}

/**
 * Returns the message that stands for an entry of a map, which is declared within the message
 * itself.
 */
function mapEntry(
  { nestedType = [] }: MessageProto,
  { typeName }: FieldProto,
): MessageProto | undefined {
  return nestedType.find(each => isMapEntry(each) && typeName?.endsWith(`.${each.name}`));
}

function isMapEntry({ options }: MessageProto): boolean {
  return options?.mapEntry === true;
}

/** Returns `.envoy.type.v3.Percent`, or `uint32` of TYPE_UINT32. */
function typeOf({ type, typeName }: FieldProto): string {
  return typeName ?? type.replace('TYPE_', '').toLowerCase();
}

function enumJson({ value }: EnumProto): protobuf.IEnum {
  return { values: Object.fromEntries(value.map(({ name, number }) => [name, number])) };
}

function serviceJson({ method = [] }: ServiceProto): protobuf.IService {
  const methods = method.map(
    ({ name, inputType, outputType, clientStreaming = false, serverStreaming = false }) => {
      const streams = {
        ...(clientStreaming && { requestStream: true }),
        ...(serverStreaming && { responseStream: true }),
      };
      return [name, { requestType: inputType, responseType: outputType, ...streams }];
    },
  );
  return { methods: Object.fromEntries(methods) };
}
