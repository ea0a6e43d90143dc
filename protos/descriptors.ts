import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { withJsonNames } from './described-names.ts';
import { readApi } from './envoy-api/api-file.ts';
import { OWN_PACKAGES, type OwnFile, ownFiles } from './own-files.ts';

/** A file whose bytes stay as they came, so that options survive that protobufjs does not know. */
export type DescriptorFile = {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly imports: readonly string[];
};

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

let loaded: Descriptors | undefined;

/** Returns all files of Envoy's that we know, and those of gRPC reflection. */
export function loadDescriptors(): Descriptors {
  if (loaded !== undefined) return loaded;
  const envoy = Object.values(readApi() ?? {}).map(file => Buffer.from(file.descriptor, 'base64'));
  const own = OWN_PACKAGES.filter(name => name.startsWith('grpc.'))
    .flatMap(ownFiles)
    .map(describe);
  loaded = indexDescriptors([...envoy, ...own].map(withJsonNames));
  return loaded;
}

/** Indexes files, each as the bytes of its FileDescriptorProto. */
export function indexDescriptors(described: readonly Uint8Array[]): Descriptors {
  const files = new Map<string, DescriptorFile>();
  const symbols = new Map<string, DescriptorFile>();
  const extensions = new Map<string, Map<number, DescriptorFile>>();
  for (const bytes of described) {
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

/** Returns the FileDescriptorProto of a file of ours that imports no other. */
function describe({ name, text }: OwnFile): Uint8Array {
  const { root } = protobuf.parse(text, new protobuf.Root(), { keepCase: true });
  // Added to Root by protobufjs/ext/descriptor, whose types do not say so.
  const described = root.resolveAll() as unknown as {
    toDescriptor(syntax: string): { file: object[] };
  };
  return FileDescriptorProto.encode({ ...described.toDescriptor('proto3').file[0], name }).finish();
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
