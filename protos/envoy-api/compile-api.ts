import type { Api, ApiFile } from './api-file.ts';
import type { FileProto, MessageProto } from './declarations.ts';
import { declarations } from './declarations.ts';
import { descriptorDecoder } from './descriptor-decoder.ts';

/** The files that declare the rules of fields, and their imports. */
const RULES = [
  'validate/validate.proto',
  'google/protobuf/duration.proto',
  'google/protobuf/timestamp.proto',
];

type Decoded = { readonly proto: FileProto; readonly bytes: Uint8Array };

/**
 * Returns the API that is reachable from `wanted`, of the FileDescriptorProtos in `embedded`.
 * Throws an Error that names a file that is not among them.
 */
export function compileApi(
  embedded: ReadonlyMap<string, Uint8Array>,
  wanted: readonly string[],
): Api {
  const decode = descriptorDecoder(RULES.map(name => bytesOf(embedded, name)));
  const files = new Map<string, Decoded>();
  const add = (name: string) => {
    if (files.has(name)) return;
    const bytes = bytesOf(embedded, name);
    const proto = decode(bytes);
    files.set(name, { proto, bytes });
    proto.dependency?.forEach(add);
  };
  wanted.forEach(add);
  const declaredIn = new Map([...files.values()].flatMap(({ proto }) => typesOf(proto)));
  return Object.fromEntries([...files].map(([name, file]) => [name, apiFile(file, declaredIn)]));
}

function bytesOf(embedded: ReadonlyMap<string, Uint8Array>, name: string): Uint8Array {
  const bytes = embedded.get(name);
  if (bytes === undefined) throw new Error(`no ${name}`);
  return bytes;
}

function apiFile({ proto, bytes }: Decoded, declaredIn: ReadonlyMap<string, string>): ApiFile {
  const uses = new Set(usedTypes(proto).map(type => fileOf(type, declaredIn)));
  uses.delete(proto.name);
  return {
    package: proto.package,
    uses: [...uses],
    nested: declarations(proto),
    descriptor: Buffer.from(bytes).toString('base64'),
  };
}

function fileOf(type: string, declaredIn: ReadonlyMap<string, string>): string {
  const file = declaredIn.get(type);
  if (file === undefined) throw new Error(`no file that declares ${type}`);
  return file;
}

/** Returns each type of a file, such as `.envoy.type.v3.Percent`, with the file's name. */
function typesOf(file: FileProto): (readonly [type: string, file: string])[] {
  const scope = `.${file.package}`;
  const names = [
    ...(file.enumType ?? []).map(({ name }) => `${scope}.${name}`),
    ...(file.messageType ?? []).flatMap(message => typesIn(message, scope)),
  ];
  return names.map(name => [name, file.name]);
}

function typesIn(message: MessageProto, scope: string): string[] {
  const name = `${scope}.${message.name}`;
  const enums = (message.enumType ?? []).map(each => `${name}.${each.name}`);
  return [name, ...enums, ...(message.nestedType ?? []).flatMap(nested => typesIn(nested, name))];
}

function usedTypes({ messageType = [], service = [] }: FileProto): string[] {
  return [
    ...messageType.flatMap(usedIn),
    ...service.flatMap(({ method = [] }) =>
      method.flatMap(({ inputType, outputType }) => [inputType, outputType]),
    ),
  ];
}

function usedIn({ field = [], nestedType = [] }: MessageProto): string[] {
  return [...field.flatMap(({ typeName = [] }) => typeName), ...nestedType.flatMap(usedIn)];
}
