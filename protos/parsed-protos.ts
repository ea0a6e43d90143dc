import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import protobuf from 'protobufjs';
import { messageTypes } from './message-types.ts';

/**
 * What stands in .proto files as JSON: protobufjs' own form of a root, and the options of members
 * as they are written, which that form leaves out. It becomes a root in half of the time that
 * parsing takes.
 */
type Parsed = {
  /** Of the files that it was parsed from. */
  readonly key: string;
  readonly root: protobuf.INamespace;
  /** By the name of the type, then of its field or oneof. */
  readonly options: Readonly<Record<string, Readonly<Record<string, readonly object[]>>>>;
};

/** A field or oneof, whose options are an array or missing, whatever its type says. */
type Member = { readonly name: string; parsedOptions: readonly object[] | null };

/**
 * The root that `parse` gives, resolved or not, kept in `folder` and taken from there as long as
 * `key` is the same: parsing 200 files is most of what a process does before it can start. A folder
 * that cannot be written, or a file that is not whole, costs the time and nothing else.
 */
export function keptRoot(folder: string, key: string, parse: () => protobuf.Root): protobuf.Root {
  const file = join(folder, 'protos.json');
  const kept = readParsed(file);
  if (kept?.key === key) return rootOf(kept);
  const root = parse();
  writeParsed(file, parsedOf(key, root));
  return root;
}

/** Equal for equal texts in the same order. */
export function keyOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex');
}

/** As JSON, with the options of all members. */
function parsedOf(key: string, root: protobuf.Root): Parsed {
  const types = messageTypes(root).map(type => {
    const written = membersOf(type).filter(({ parsedOptions }) => parsedOptions !== null);
    return [
      type.fullName,
      Object.fromEntries(written.map(({ name, parsedOptions }) => [name, parsedOptions])),
    ];
  });
  return { key, root: root.toJSON(), options: Object.fromEntries(types) };
}

/** The root that it was made of, unresolved. */
function rootOf({ options, root: { nested = {} } }: Parsed): protobuf.Root {
  const root = new protobuf.Root();
  root.addJSON(nested);
  for (const type of messageTypes(root)) {
    const written = options[type.fullName] ?? {};
    for (const member of membersOf(type)) member.parsedOptions = written[member.name] ?? null;
  }
  return root;
}

function membersOf(type: protobuf.Type): readonly Member[] {
  return [...type.fieldsArray, ...type.oneofsArray] as object[] as Member[];
}

function readParsed(file: string): Parsed | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Parsed;
  } catch {
    return undefined;
  }
}

/** At once, for whoever reads it meanwhile. */
function writeParsed(file: string, parsed: Parsed): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const own = `${file}.${process.pid}`;
    writeFileSync(own, JSON.stringify(parsed));
    renameSync(own, file);
  } catch {
    // The next process parses them, too.
  }
}
