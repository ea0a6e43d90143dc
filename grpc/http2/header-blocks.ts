import { ConnectionError, ERROR } from './error-code.ts';
import { type HeaderLimits, HpackDecoder } from './hpack-decoder.ts';
import { areTrailers, type RequestHead, readRequest } from './request-head.ts';

/** Why a request is not one that is answered as such. */
export type BadHead = 'malformed' | 'too many fields' | 'too long';

/** A block in pieces is read when it is whole; none is longer, whatever it decodes to. */
const MAX_BLOCK_BYTES = 64 * 1_024;
/** A peer that means well fills its frames. */
const MAX_CONTINUATIONS = 8;
/** Longer blocks are decoded each time. */
const MAX_REMEMBERED_BYTES = 1_024;
const NOTHING = Buffer.alloc(0);

/**
 * The header blocks of one connection: their pieces, and what they say. Source: RFC 9113, sections
 * 4.3 and 6.10.
 */
export class HeaderBlocks {
  readonly #limits: HeaderLimits;
  readonly #decoder: HpackDecoder;
  #pieces: Buffer = NOTHING;
  #continuations = 0;
  /** The last block that was a request without touching the table of fields, and what it said. */
  #lastBlock: Buffer = NOTHING;
  #lastHead: RequestHead | undefined;
  #lastChanges = 0;

  constructor(limits: HeaderLimits) {
    this.#limits = limits;
    this.#decoder = new HpackDecoder(limits);
  }

  /** Keeps the start of a block. */
  begin(bytes: Buffer, start: number, end: number): void {
    this.#continuations = 0;
    this.#pieces = Buffer.from(bytes.subarray(start, end));
  }

  /**
   * Adds to it. Throws a ConnectionError when it is too much: without it the table of fields is not
   * what the peer's is.
   */
  add(bytes: Buffer, start: number, end: number): Buffer {
    this.#continuations++;
    if (
      this.#continuations > MAX_CONTINUATIONS ||
      this.#pieces.length + end - start > MAX_BLOCK_BYTES
    )
      throw new ConnectionError(ERROR.enhanceYourCalm, 'headers in too many frames');
    this.#pieces = Buffer.concat([this.#pieces, bytes.subarray(start, end)]);
    return this.#pieces;
  }

  /**
   * What a whole block says of a request. With the same table of fields the same bytes say the
   * same.
   */
  readHead(bytes: Buffer, start: number, end: number): RequestHead | BadHead {
    const head = this.#lastHead;
    if (head !== undefined && this.#isLast(bytes, start, end)) return head;
    const before = this.#decoder.changes;
    const { fields, count, bytes: size } = this.#decoder.decode(bytes, start, end);
    if (count > this.#limits.maxFields) return 'too many fields';
    if (size > this.#limits.maxBytes) return 'too long';
    const read = readRequest(fields);
    if (read === undefined) return 'malformed';
    if (this.#decoder.changes === before) this.#remember(bytes, start, end, read);
    return read;
  }

  /** Whether a whole block is that of trailers. */
  readTrailers(bytes: Buffer, start: number, end: number): boolean {
    const { fields, count } = this.#decoder.decode(bytes, start, end);
    return fields.length === count && areTrailers(fields);
  }

  /** Reads a block that concerns nobody, for the sake of the table of fields. */
  skip(bytes: Buffer, start: number, end: number): void {
    this.#decoder.decode(bytes, start, end);
  }

  #isLast(bytes: Buffer, start: number, end: number): boolean {
    const last = this.#lastBlock;
    return (
      end - start === last.length &&
      this.#lastChanges === this.#decoder.changes &&
      bytes.compare(last, 0, last.length, start, end) === 0
    );
  }

  #remember(bytes: Buffer, start: number, end: number, head: RequestHead): void {
    if (end - start > MAX_REMEMBERED_BYTES) return;
    this.#lastBlock = Buffer.from(bytes.subarray(start, end));
    this.#lastHead = head;
    this.#lastChanges = this.#decoder.changes;
  }
}
