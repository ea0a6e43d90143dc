import { isUtf8 } from 'node:buffer';
import { WIRE, type WireType } from './wire-writer.ts';

/** Bytes that are not in protobuf's wire format. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** The wire types of the deprecated groups, which may be in unknown fields. */
const GROUP_START = 3;
const GROUP_END = 4;
const GROUP_DEPTH_MAX = 100;
const VARINT_BYTES_MAX = 10;
/** What stands for bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd';

/** Returns the tag of a field: its number, and how its content is delimited. */
export function tagOf(field: number, wireType: WireType): number {
  return field * 8 + wireType;
}

/**
 * Reads protobuf's wire format field by field: `while (reader.more) switch (reader.tag()) { … }`.
 * Throws a WireError when the bytes are cut off or invalid. Nothing beyond the end of the message
 * is read. Source: protobuf.dev, Encoding.
 */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;
  #end: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  /** Tells whether the present message has another field. */
  get more(): boolean {
    return this.#at < this.#end;
  }

  /** Reads the next tag, in the form of `tagOf`. */
  tag(): number {
    const tag = this.uint32();
    if (tag < 8) throw new WireError('a field has the number 0');
    return tag;
  }

  /** Enters a nested message. Pass the result to `leave` after its last field. */
  enter(): number {
    const outer = this.#end;
    this.#end = this.#endOfBytes();
    return outer;
  }

  leave(outer: number): void {
    this.#end = outer;
  }

  /** Where the next byte is read. */
  get at(): number {
    return this.#at;
  }

  /** Skips text or bytes, and returns where they begin. They end at `at`. */
  pass(): number {
    const end = this.#endOfBytes();
    const start = this.#at;
    this.#at = end;
    return start;
  }

  /** Reads a text that a client of the peer wrote. Bytes that are no UTF-8 become U+FFFD. */
  string(): string {
    const end = this.#endOfBytes();
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end;
    return text;
  }

  /**
   * Reads the value of a header of a client of the peer. Bytes that are no UTF-8 are Latin-1, which
   * HTTP once allowed (RFC 9110 section 5.5). So two of them never become one text.
   */
  headerValue(): string {
    const start = this.pass();
    const text = this.#bytes.toString('utf8', start, this.#at);
    if (!text.includes(REPLACEMENT)) return text;
    const bytes = this.#bytes.subarray(start, this.#at);
    return isUtf8(bytes) ? text : bytes.toString('latin1');
  }

  /** Reads a text, and throws when it is no UTF-8, as the format demands. */
  utf8(): string {
    const start = this.pass();
    const bytes = this.#bytes.subarray(start, this.#at);
    if (!isUtf8(bytes)) throw new WireError('a text is not UTF-8');
    return bytes.toString();
  }

  /** Reads the lower 32 bits of a varint. */
  uint32(): number {
    const first = this.#byte();
    if (first < 128) return first;
    let value = first & 127;
    for (let place = 1; place < VARINT_BYTES_MAX; place++) {
      const byte = this.#byte();
      if (place < 5) value |= (byte & 127) << (7 * place);
      if (byte < 128) return value >>> 0;
    }
    throw new WireError('a varint has more than 10 bytes');
  }

  /** Reads a varint of 64 bits, to the precision of a number. */
  uint64(): number {
    let value = 0;
    let factor = 1;
    for (let place = 0; place < VARINT_BYTES_MAX; place++, factor *= 128) {
      const byte = this.#byte();
      // Only one bit of the tenth byte is within 64.
      value += (byte & (place === 9 ? 1 : 127)) * factor;
      if (byte < 128) return value;
    }
    throw new WireError('a varint has more than 10 bytes');
  }

  /** Reads a `double`. */
  double(): number {
    const start = this.#at;
    this.#pass(8);
    return this.#bytes.readDoubleLE(start);
  }

  /** Skips the field that began with this tag. */
  skip(tag: number, depth = 0): void {
    const wireType = tag & 7;
    if (wireType === WIRE.varint) this.uint32();
    else if (wireType === WIRE.fixed64) this.#pass(8);
    else if (wireType === WIRE.lengthDelimited) this.#at = this.#endOfBytes();
    else if (wireType === WIRE.fixed32) this.#pass(4);
    else if (wireType === GROUP_START && depth < GROUP_DEPTH_MAX) this.#skipGroup(tag, depth + 1);
    else throw new WireError(`a field has the wire type ${wireType}`);
  }

  #skipGroup(start: number, depth: number): void {
    const end = start - GROUP_START + GROUP_END;
    for (let tag = this.tag(); tag !== end; tag = this.tag()) this.skip(tag, depth);
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new WireError('the message is cut off');
    return this.#bytes[this.#at++] ?? 0;
  }

  #pass(size: number): void {
    if (size > this.#end - this.#at) throw new WireError('the message is cut off');
    this.#at += size;
  }

  /** Reads a length, and returns where the bytes after it end. */
  #endOfBytes(): number {
    const length = this.uint32();
    if (length > this.#end - this.#at) throw new WireError('the message is cut off');
    return this.#at + length;
  }
}
