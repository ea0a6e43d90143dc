import protobuf from 'protobufjs';

/**
 * Tags of the fields of google.protobuf.FileDescriptorProto. Source:
 * google/protobuf/descriptor.proto.
 */
const NAME = 0x0a;
const OTHERS: ReadonlySet<number> = new Set([
  ...[0x12, 0x1a, 0x22, 0x2a, 0x32, 0x3a, 0x42, 0x4a, 0x62, 0x7a],
  ...[0x50, 0x58, 0x70],
]);

/** The end of a name, and the tag of the package behind it. */
const END_OF_NAME = Buffer.from('.proto\x12');
/** Names are shorter, so that their length is one byte. */
const LONGEST_NAME = 127;

/**
 * Returns the .proto files that `program` was built from, each as the bytes of its
 * FileDescriptorProto. Protobuf's C++ code holds them in every program for its own reflection.
 */
export function embeddedFiles(program: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const bytes = Buffer.from(program.buffer, program.byteOffset, program.length);
  for (let at = bytes.indexOf(END_OF_NAME); at !== -1; at = bytes.indexOf(END_OF_NAME, at + 1)) {
    const end = at + END_OF_NAME.length - 1;
    const begin = beginOf(bytes, end);
    if (begin === undefined) continue;
    const name = bytes.toString('latin1', begin + 2, end);
    const found = descriptorAt(bytes.subarray(begin));
    const known = files.get(name);
    // The C code of gRPC holds some files too, with a JSON name for each field.
    if (known === undefined || found.length < known.length) files.set(name, found);
  }
  return files;
}

/** Returns where the tag and length of a name stand that ends at `end`. */
function beginOf(bytes: Buffer, end: number): number | undefined {
  for (let length = END_OF_NAME.length; length <= LONGEST_NAME; length++) {
    const begin = end - length - 2;
    if (begin < 0) return undefined;
    if (bytes[begin] === NAME && bytes[begin + 1] === length) return begin;
  }
  return undefined;
}

/**
 * Returns the descriptor that `bytes` begin with. What stands behind it has no tag of a descriptor.
 */
function descriptorAt(bytes: Buffer): Uint8Array {
  const reader = protobuf.Reader.create(bytes);
  reader.pos += 1;
  reader.skipType(2);
  let end = reader.pos;
  while (reader.pos < reader.len) {
    const tag = bytes[reader.pos] ?? 0;
    if (!OTHERS.has(tag)) break;
    reader.pos += 1;
    try {
      reader.skipType(tag & 7);
    } catch {
      break;
    }
    end = reader.pos;
  }
  return bytes.subarray(0, end);
}
