import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { withNewerFields } from './newer-fields.ts';

/**
 * A file of a FileDescriptorSet: its bytes as they came, but for newer fields, so that options
 * survive that protobufjs does not know.
 */
export type DescriptorFile = {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly imports: readonly string[];
};

/**
 * In camelCase, as protobufjs brings it: the root's own depends on which package loaded protobufjs
 * first.
 */
const { FileDescriptorProto } = descriptor;

/**
 * What gRPC reflection asks for. Symbols, types and extended types are full names without a leading
 * dot.
 */
export type Descriptors = {
  readonly files: ReadonlyMap<string, DescriptorFile>;
  /** The file of each message, enum, service, method and extension. */
  readonly symbols: ReadonlyMap<string, DescriptorFile>;
  /** The files of the extensions of each message type, by number. */
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescriptorFile>>;
};

type Declared = { readonly name: string };
type Extension = Declared & { readonly number: number; readonly extendee: string };
type Message = Declared & {
  readonly nestedType: readonly Message[];
  readonly enumType: readonly Declared[];
  readonly extension: readonly Extension[];
};
type File = Declared & {
  readonly package: string;
  readonly dependency: readonly string[];
  readonly messageType: readonly Message[];
  readonly enumType: readonly Declared[];
  readonly service: readonly (Declared & { readonly method: readonly Declared[] })[];
  readonly extension: readonly Extension[];
};

/** Reads `descriptors.pb` beside this file. */
export function loadDescriptors(): Descriptors {
  return indexDescriptors(readFileSync(join(import.meta.dirname, 'descriptors.pb')));
}

/** Indexes the bytes of a google.protobuf.FileDescriptorSet. */
export function indexDescriptors(set: Uint8Array): Descriptors {
  const files = new Map<string, DescriptorFile>();
  const symbols = new Map<string, DescriptorFile>();
  const extensions = new Map<string, Map<number, DescriptorFile>>();
  for (const asBuilt of fileBytes(set)) {
    const bytes = withNewerFields(asBuilt, FileDescriptorProto.decode(asBuilt) as unknown as File);
    const declared = FileDescriptorProto.decode(bytes) as unknown as File;
    const file = { name: declared.name, bytes, imports: declared.dependency };
    files.set(file.name, file);
    for (const symbol of symbolsOf(declared)) symbols.set(symbol, file);
    for (const { extendee, number } of extensionsOf(declared)) {
      const type = extendee.slice(1);
      extensions.set(type, (extensions.get(type) ?? new Map()).set(number, file));
    }
  }
  return { files, symbols, extensions };
}

/** `set.file` undecoded. */
function fileBytes(set: Uint8Array): Uint8Array[] {
  const reader = protobuf.Reader.create(set);
  const files: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    reader.uint32();
    files.push(reader.bytes());
  }
  return files;
}

function symbolsOf(file: File): string[] {
  const scope = file.package === '' ? '' : `${file.package}.`;
  const top = [...file.enumType, ...file.service, ...file.extension].map(
    ({ name }) => scope + name,
  );
  const methods = file.service.flatMap(({ name, method }) =>
    method.map(each => `${scope}${name}.${each.name}`),
  );
  return [...top, ...methods, ...file.messageType.flatMap(message => symbolsIn(message, scope))];
}

function symbolsIn(message: Message, scope: string): string[] {
  const name = scope + message.name;
  const declared = [...message.enumType, ...message.extension].map(each => `${name}.${each.name}`);
  return [
    name,
    ...declared,
    ...message.nestedType.flatMap(nested => symbolsIn(nested, `${name}.`)),
  ];
}

function extensionsOf(file: File): Extension[] {
  const nested = (message: Message): Extension[] => [
    ...message.extension,
    ...message.nestedType.flatMap(nested),
  ];
  return [...file.extension, ...file.messageType.flatMap(nested)];
}
