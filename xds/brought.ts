import { text } from '#protos/wire-fields.ts';
import { tagOf, WireReader } from '#protos/wire-reader.ts';
import { WIRE, WireWriter } from '#protos/wire-writer.ts';
import { ABSENT } from './refusals.ts';
import { remembered } from './remembered.ts';
import type { Resources } from './snapshot.ts';

/** See protobuf.dev, Encoding, "Maps": an entry is a message of a key and a value. */
const NAME = 1;
const VERSION = 2;
const NAME_TAG = tagOf(NAME, WIRE.lengthDelimited);
const VERSION_TAG = tagOf(VERSION, WIRE.lengthDelimited);
/** A length below this is one byte, and a byte below this is a character. */
const ONE_BYTE = 128;

type Entry = readonly [name: string, version: string];

/** How what a client holds differs from some resources. */
export type Difference = {
  /** How many of the resources it holds as they are. */
  readonly common: number;
  /** What it holds of the other names that one of the two has. */
  readonly apart: ReadonlyMap<string, string | typeof ABSENT>;
};

/**
 * The names and versions that a client says it holds from an earlier stream. Thousands of clients
 * bring the same thousands of them, each in an order of its own. So an entry is compared by its
 * bytes with what is served, and is read only where it differs. Source:
 * envoy/service/discovery/v3/discovery.proto, DeltaDiscoveryRequest.initial_resource_versions.
 */
export class Brought {
  readonly #message: Buffer;
  readonly #bounds: readonly number[];
  /** Entries that are not short: with an empty name, a long text, or any that is not ASCII. */
  readonly long: readonly Entry[];

  /**
   * `bounds` tells where in `message` each entry begins and ends, in pairs. Throws a WireError when
   * an entry is invalid.
   */
  constructor(message: Buffer, bounds: readonly number[]) {
    this.#message = message;
    this.#bounds = bounds;
    const long: Entry[] = [];
    for (let at = 0; at < bounds.length; at += 2) if (!this.#isShort(at)) long.push(this.#read(at));
    this.long = long;
  }

  /** The number of entries. A name that is brought twice counts twice. */
  get size(): number {
    return this.#bounds.length / 2;
  }

  /** The bytes of all entries. */
  get bytes(): number {
    let bytes = 0;
    for (let at = 0; at < this.#bounds.length; at += 2) bytes += this.#end(at) - this.#start(at);
    return bytes;
  }

  /** The bytes that it keeps in memory, which are all of its request. */
  get keptBytes(): number {
    return this.#message.length;
  }

  /** Returns each name with its version. */
  versions(): ReadonlyMap<string, string> {
    return new Map(Array.from({ length: this.size }, (_, index) => this.#read(index * 2)));
  }

  /** Compares it with all of some resources. */
  against(resources: Resources): Difference {
    const { names, find } = entriesOf(resources);
    const isHeld = new Uint8Array(names.length);
    const apart = new Map<string, string | typeof ABSENT>();
    let common = 0;
    for (let at = 0; at < this.#bounds.length; at += 2) {
      const index = find(this.#message, this.#start(at), this.#end(at));
      if (index === undefined) apart.set(...this.#read(at));
      else if (isHeld[index] === 0) {
        isHeld[index] = 1;
        common += 1;
      }
    }
    const lacking = common === names.length ? [] : names.filter((_, index) => isHeld[index] === 0);
    for (const name of lacking) if (!apart.has(name)) apart.set(name, ABSENT);
    return { common, apart };
  }

  #start(at: number): number {
    return this.#bounds[at] ?? 0;
  }

  #end(at: number): number {
    return this.#bounds[at + 1] ?? 0;
  }

  /** Whether it has the form that all writers give it, with a name, both texts short and ASCII. */
  #isShort(at: number): boolean {
    const bytes = this.#message;
    const [start, end] = [this.#start(at), this.#end(at)];
    const version = start + 2 + (bytes[start + 1] ?? 0);
    const isInForm =
      bytes[start] === NAME_TAG &&
      version > start + 2 &&
      version + 2 <= end &&
      bytes[version] === VERSION_TAG &&
      version + 2 + (bytes[version + 1] ?? 0) === end;
    if (!isInForm) return false;
    let all = 0;
    for (let index = start; index < end; index += 1) all |= bytes[index] ?? 0;
    return all < ONE_BYTE;
  }

  #read(at: number): Entry {
    const reader = new WireReader(this.#message.subarray(this.#start(at), this.#end(at)));
    let name = '';
    let version = '';
    while (reader.more) {
      const tag = reader.tag();
      if (tag === NAME_TAG) name = reader.utf8();
      else if (tag === VERSION_TAG) version = reader.utf8();
      else reader.skip(tag);
    }
    return [name, version];
  }
}

type Entries = {
  readonly names: readonly string[];
  /** Returns the index of the resource whose entry has these bytes. */
  find(bytes: Buffer, start: number, end: number): number | undefined;
};

/** Returns the entries of clients that hold these resources. */
const entriesOf = remembered((resources: Resources): Entries => {
  const writer = new WireWriter(resources.size * 64);
  const names = [...resources.keys()];
  const ends = [...resources].map(([name, { version }]) => {
    text(writer, NAME, name);
    text(writer, VERSION, version);
    return writer.view().length;
  });
  const all = writer.copy();
  // At most half of the slots are taken, so that few are looked at for an entry.
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(names.length + 1) + 1)).fill(-1);
  const mask = slots.length - 1;
  const startOf = (index: number) => ends[index - 1] ?? 0;
  for (const [index, end] of ends.entries()) {
    let slot = hashOf(all, startOf(index), end) & mask;
    while (slots[slot] !== -1) slot = (slot + 1) & mask;
    slots[slot] = index;
  }
  const find = (bytes: Buffer, start: number, end: number) => {
    let slot = hashOf(bytes, start, end) & mask;
    for (let index = slots[slot]; index !== undefined && index >= 0; index = slots[slot]) {
      if (bytes.compare(all, startOf(index), ends[index], start, end) === 0) return index;
      slot = (slot + 1) & mask;
    }
    return undefined;
  };
  return { names, find };
});

/** An entry ends with a version, which is a hash of content that has the name in it. */
const HASHED_BYTES = 8;

/** FNV-1a of the last bytes. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = Math.max(start, end - HASHED_BYTES); at < end; at += 1)
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 16);
}
