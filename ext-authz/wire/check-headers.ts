import { headerText } from '#ext-authz/http/header-text.ts';
import type { HeaderFields } from '#ext-authz/http/http-request.ts';

/**
 * Returns the names of header fields, some perhaps more than once. At least all names of a length
 * in `lengths` are among them.
 */
export function fieldNames(headers: HeaderFields, lengths: ReadonlySet<number>): Iterable<string> {
  return headers instanceof CheckHeaders ? headers.namesOf(lengths) : headers.keys();
}

/** Returns the bytes of all names and values, and the number of fields. */
export function headerSizes(headers: HeaderFields): {
  readonly bytes: number;
  readonly fields: number;
} {
  if (headers instanceof CheckHeaders) return headers.sizes;
  let [bytes, fields] = [0, 0];
  for (const [name, values] of headers) {
    for (const value of values) bytes += name.length + Buffer.byteLength(value);
    fields += values.length;
  }
  return { bytes, fields };
}

/**
 * How many numbers `spans` has for each header: the begin and end of its name, the begin and end of
 * its value, and 1 when the value may not be UTF-8 (`raw_value`).
 */
export const STRIDE = 5;

/**
 * The header fields of a CheckRequest. Most of them are never read, so names and values become text
 * on demand. A value is a text of its own that does not hold on to the message. Names are in lower
 * case.
 */
export class CheckHeaders implements HeaderFields {
  readonly #bytes: Buffer;
  readonly #text: string;
  readonly #spans: readonly number[];
  readonly #end: number;
  /** The last name is often asked for again. */
  #lastName = '';
  #lastFields: readonly string[] | undefined;
  #distinct: readonly string[] | undefined;
  #all: ReadonlyMap<string, readonly string[]> | undefined;

  /**
   * `text` is the bytes, one character each. `spans` are as STRIDE says, up to `end`. Names that
   * begin with `:` are not among them.
   */
  constructor(bytes: Buffer, text: string, spans: readonly number[], end: number) {
    this.#bytes = bytes;
    this.#text = text;
    this.#spans = spans;
    this.#end = end;
  }

  get(name: string): readonly string[] | undefined {
    if (name !== this.#lastName) {
      this.#lastName = name;
      this.#lastFields = this.#fieldsOf(name);
    }
    return this.#lastFields;
  }

  has(name: string): boolean {
    return this.#find(name, 0) !== -1;
  }

  /** Returns the names, including repeated ones, whose length is in `lengths`. */
  namesOf(lengths: ReadonlySet<number>): readonly string[] {
    const names: string[] = [];
    for (let at = 0; at < this.#end; at += STRIDE)
      if (lengths.has((this.#spans[at + 1] ?? 0) - (this.#spans[at] ?? 0)))
        names.push(this.#nameAt(at));
    return names;
  }

  /** Returns the sizes without reading any field. */
  get sizes(): { readonly bytes: number; readonly fields: number } {
    const spans = this.#spans;
    let bytes = 0;
    for (let at = 0; at < this.#end; at += STRIDE) {
      bytes +=
        (spans[at + 1] ?? 0) - (spans[at] ?? 0) + (spans[at + 3] ?? 0) - (spans[at + 2] ?? 0);
    }
    return { bytes, fields: this.#end / STRIDE };
  }

  /** Returns the names without reading any value. */
  keys(): MapIterator<string> {
    this.#distinct ??= this.#distinctNames();
    return this.#distinct.values();
  }

  get size(): number {
    return this.#map().size;
  }

  entries(): MapIterator<[string, readonly string[]]> {
    return this.#map().entries();
  }

  values(): MapIterator<readonly string[]> {
    return this.#map().values();
  }

  [Symbol.iterator](): MapIterator<[string, readonly string[]]> {
    return this.#map()[Symbol.iterator]();
  }

  forEach(callback: (value: readonly string[], name: string, map: HeaderFields) => void): void {
    for (const [name, value] of this.#map()) callback(value, name, this);
  }

  #fieldsOf(name: string): readonly string[] | undefined {
    const first = this.#find(name, 0);
    if (first === -1) return undefined;
    const values = [this.#valueAt(name, first)];
    for (let at = this.#find(name, first + STRIDE); at !== -1; at = this.#find(name, at + STRIDE))
      values.push(this.#valueAt(name, at));
    return values;
  }

  #map(): ReadonlyMap<string, readonly string[]> {
    this.#all ??= new Map([...this.keys()].map(name => [name, this.get(name) ?? []]));
    return this.#all;
  }

  #distinctNames(): readonly string[] {
    const names = new Set<string>();
    for (let at = 0; at < this.#end; at += STRIDE) names.add(this.#nameAt(at));
    return [...names];
  }

  /** Returns where the next span of this name is, or -1 when there is none. */
  #find(name: string, from: number): number {
    const isPlain = isAscii(name);
    for (let at = from; at < this.#end; at += STRIDE) {
      if (!isPlain && this.#nameAt(at) === name) return at;
      const start = this.#spans[at] ?? 0;
      if (this.#spans[at + 1] === start + name.length && isNameAt(this.#text, start, name))
        return at;
    }
    return -1;
  }

  #nameAt(at: number): string {
    const [start, end] = [this.#spans[at], this.#spans[at + 1]];
    const name = this.#text.slice(start, end);
    return isAscii(name)
      ? name.toLowerCase()
      : lowerAscii(this.#bytes.toString('utf8', start, end));
  }

  #valueAt(name: string, at: number): string {
    const [start, end] = [this.#spans[at + 2], this.#spans[at + 3]];
    if (this.#spans[at + 4] !== 1) return this.#bytes.toString('utf8', start, end);
    return headerText(name, this.#bytes.subarray(start, end));
  }
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1)
    if (text.charCodeAt(index) >= 0x80) return false;
  return true;
}

/** No header of ours has other letters, and no upstream reads U+212A as `k`. */
function lowerAscii(name: string): string {
  return name.replace(/[A-Z]/g, letter => letter.toLowerCase());
}

/** Returns whether the text has this name at that place, in any letter case. */
function isNameAt(text: string, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index += 1) {
    const code = text.charCodeAt(start + index);
    const lower = code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
    if (lower !== name.charCodeAt(index)) return false;
  }
  return true;
}
