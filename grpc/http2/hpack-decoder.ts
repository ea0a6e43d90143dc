import { ConnectionError, ERROR } from './error-code.ts';
import { type Field, toField } from './field.ts';
import { decodeHuffman } from './huffman.ts';
import { TABLE_BYTES } from './settings.ts';
import { STATIC_FIELDS } from './static-table.ts';

export type HeaderLimits = { readonly maxFields: number; readonly maxBytes: number };

/** A header list. Beyond its limits only the size is counted and the fields are dropped. */
export type HeaderList = {
  readonly fields: readonly Field[];
  readonly count: number;
  readonly bytes: number;
};

const STATIC: readonly Field[] = STATIC_FIELDS.map(([name, value]) => toField(name, value));
/**
 * Above every number that is read. A number with more bytes is an attack. Source: RFC 7541, section
 * 5.1.
 */
const MAX_NUMBER = 2 ** 28;
/** Longer literals are decoded each time. */
const MAX_REMEMBERED_BYTES = 256;

/** Decodes the header lists of one connection. Source: RFC 7541. */
export class HpackDecoder {
  readonly #limits: HeaderLimits;
  /** The newest entry is last. */
  readonly #table: Field[] = [];
  #tableBytes = 0;
  /** The default, since our SETTINGS do not change it. */
  #maxTableBytes = TABLE_BYTES;
  /** How often the table has changed. With the same table, the same bytes are the same list. */
  changes = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  /** The last literal that the table did not keep, and what it said. */
  #lastPassing: Buffer = Buffer.alloc(0);
  #lastField: Field | undefined;

  constructor(limits: HeaderLimits) {
    this.#limits = limits;
  }

  /** Decodes a whole block. Throws a ConnectionError when it is not one. */
  decode(bytes: Buffer, start: number, end: number): HeaderList {
    [this.#bytes, this.#at, this.#end] = [bytes, start, end];
    const fields: Field[] = [];
    let [count, size] = [0, 0];
    while (this.#at < end) {
      const field = this.#next(count === 0);
      if (field === undefined) continue;
      count++;
      size += field.bytes;
      if (count <= this.#limits.maxFields && size <= this.#limits.maxBytes) fields.push(field);
    }
    return { fields, count, bytes: size };
  }

  /**
   * Reads the next item. Source: RFC 7541, section 6.
   * @returns undefined when it was no field
   */
  #next(isFirst: boolean): Field | undefined {
    const first = this.#bytes[this.#at] ?? 0;
    if (first >= 0x80) return this.#field(this.#number(7));
    if (first >= 0x40) return this.#keep(this.#literal(6));
    if (first < 0x20) return this.#passing();
    if (!isFirst) fail('the table of fields is resized within a header list');
    this.#resize(this.#number(5));
    return undefined;
  }

  /**
   * Reads a literal that the table does not keep. In calls it is the `:path`, which is the same
   * each time. One whose name the table does not hold says the same wherever it stands.
   */
  #passing(): Field {
    const last = this.#lastPassing;
    const start = this.#at;
    const stop = start + last.length;
    if (
      this.#lastField !== undefined &&
      stop <= this.#end &&
      this.#bytes.compare(last, 0, last.length, start, stop) === 0
    ) {
      this.#at = stop;
      return this.#lastField;
    }
    const isAlone = ((this.#bytes[start] ?? 0) & 0x0f) !== 0x0f;
    const field = this.#literal(4);
    if (isAlone && this.#at - start <= MAX_REMEMBERED_BYTES) {
      this.#lastPassing = Buffer.from(this.#bytes.subarray(start, this.#at));
      this.#lastField = field;
    }
    return field;
  }

  #literal(bits: number): Field {
    const index = this.#number(bits);
    const name = index === 0 ? this.#text() : this.#field(index).name;
    return toField(name, this.#text());
  }

  /** Source: RFC 7541, section 2.3.3. */
  #field(index: number): Field {
    const field =
      index <= STATIC.length
        ? STATIC[index - 1]
        : this.#table[this.#table.length - (index - STATIC.length)];
    return field ?? fail('a field of an index that there is not');
  }

  /** Source: RFC 7541, section 4.4. */
  #keep(field: Field): Field {
    this.changes++;
    this.#evict(this.#maxTableBytes - field.bytes);
    if (field.bytes > this.#maxTableBytes) return field;
    this.#table.push(field);
    this.#tableBytes += field.bytes;
    return field;
  }

  /** Source: RFC 7541, sections 4.3 and 6.3. */
  #resize(maxBytes: number): void {
    if (maxBytes > TABLE_BYTES) fail('a table of fields larger than allowed');
    this.changes++;
    this.#maxTableBytes = maxBytes;
    this.#evict(maxBytes);
  }

  #evict(toBytes: number): void {
    while (this.#tableBytes > toBytes) {
      const oldest = this.#table.shift();
      if (oldest === undefined) return;
      this.#tableBytes -= oldest.bytes;
    }
  }

  /** Source: RFC 7541, section 5.1. */
  #number(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let factor = 1; factor < MAX_NUMBER; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    return fail('a number without end');
  }

  /** Source: RFC 7541, section 5.2. */
  #text(): string {
    const isHuffman = (this.#bytes[this.#at] ?? 0) >= 0x80;
    const length = this.#number(7);
    const [start, end] = [this.#at, this.#at + length];
    if (end > this.#end) fail('a text that ends before its length');
    this.#at = end;
    return isHuffman
      ? decodeHuffman(this.#bytes, start, end)
      : this.#bytes.toString('latin1', start, end);
  }

  #byte(): number {
    if (this.#at >= this.#end) fail('headers that end within a field');
    return this.#bytes[this.#at++] ?? 0;
  }
}

function fail(message: string): never {
  throw new ConnectionError(ERROR.compressionError, message);
}
