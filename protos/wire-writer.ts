/** How the bytes after a tag are delimited. Source: protobuf.dev, Encoding, "Message Structure". */
export const WIRE = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;
export type WireType = (typeof WIRE)[keyof typeof WIRE];

const MESSAGE_DEPTH_MAX = 100;

/** A cleared writer keeps a buffer of at most so many bytes. */
const MOST_KEPT = 1024 * 1024;

/**
 * Appends protobuf's wire format to one growing buffer. A nested message is written in place
 * between `begin` and `end`, and needs no buffer of its own. Source: protobuf.dev, Encoding.
 */
export class WireWriter {
  #bytes: Buffer;
  #length = 0;
  #depth = 0;

  /** `size` is about how many bytes will be written. */
  constructor(size = 512) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  /** Forgets what was written, and what was begun. */
  clear(): void {
    if (this.#bytes.length > MOST_KEPT) this.#bytes = Buffer.allocUnsafe(MOST_KEPT);
    this.#length = 0;
    this.#depth = 0;
  }

  /**
   * Tells whether one more nested message is still within the depth that protobuf's parsers read
   * (100).
   */
  get mayNest(): boolean {
    return this.#depth < MESSAGE_DEPTH_MAX;
  }

  /** Appends a tag: the number of a field, and how its content is delimited. */
  tag(field: number, wireType: WireType): void {
    this.varint(field * 8 + wireType);
  }

  /** Appends a whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    this.#reserve(10);
    this.#length = this.#putVarint(value, this.#length);
  }

  /** Appends any 64-bit integer. A negative one takes ten bytes, as for int32 too. */
  varint64(value: bigint): void {
    this.#reserve(10);
    let rest = BigInt.asUintN(64, value);
    while (rest > 127n) {
      this.#bytes[this.#length++] = Number(rest & 127n) | 128;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  fixed32(value: bigint): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(Number(BigInt.asUintN(32, value)), this.#length);
  }

  fixed64(value: bigint): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), this.#length);
  }

  float(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeFloatLE(value, this.#length);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  /** Appends the text's length in bytes, then its UTF-8. */
  string(text: string): void {
    const size = Buffer.byteLength(text);
    this.varint(size);
    this.#reserve(size);
    this.#length += this.#bytes.write(text, this.#length, size);
  }

  /** Appends the length of `bytes`, then `bytes`. */
  bytes(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Begins something whose length is not known yet. Pass the result to `end`. */
  begin(): number {
    this.#reserve(1);
    this.#depth += 1;
    return this.#length++;
  }

  /**
   * Ends what `begin` began. Puts the length before the bytes since then, and returns where these
   * start. `elsewhere` is how many more bytes follow them that are not in this buffer.
   */
  end(begun: number, elsewhere = 0): number {
    const size = this.#length - begun - 1;
    const length = size + elsewhere;
    const prefix = length < 128 ? 1 : Math.ceil((32 - Math.clz32(length)) / 7);
    this.#reserve(prefix);
    if (prefix > 1) this.#bytes.copyWithin(begun + prefix, begun + 1, this.#length);
    this.#putVarint(length, begun);
    this.#length += prefix - 1;
    this.#depth -= 1;
    return begun + prefix;
  }

  /** Returns what was written, valid until the next write. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Returns a copy of what was written from `start` on. */
  copy(start = 0): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(start, this.#length));
  }

  #putVarint(value: number, at: number): number {
    let rest = value;
    let position = at;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#bytes[position++] = (rest % 128) | 128;
    this.#bytes[position++] = rest;
    return position;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + size));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
