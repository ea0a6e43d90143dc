import { ConnectionError, ERROR } from './error-code.ts';
import { type HeaderLimits, HpackDecoder } from './hpack-decoder.ts';
import { areTrailers, type RequestHead, readRequest } from './request-head.ts';

/** Why the headers of a request cannot be used. */
export type BadHead = 'malformed' | 'too many fields' | 'too long';

/** A block in pieces is read when it is whole. None is longer than this, whatever it decodes to. */
const MAX_BLOCK_BYTES = 64 * 1_024;
/** A well-behaved peer fills its frames. */
const MAX_CONTINUATIONS = 8;
/** Longer blocks are decoded each time. */
const MAX_REMEMBERED_BYTES = 1_024;
const NOTHING = Buffer.alloc(0);

/**
 * Gathers and decodes the header blocks of one connection. Source: RFC 9113, sections 4.3 and 6.10.
 */
export class HeaderBlocks {
  readonly #limits: HeaderLimits;
  readonly #decoder: HpackDecoder;
  #pieces: Buffer = NOTHING;
  #continuations = 0;
  /** The last block that was a request and left the table of fields alone, and what it said. */
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
   * Adds a piece to the block. Throws a ConnectionError when the block is too long. A skipped block
   * would leave the table of fields different from the peer's.
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
   * Decodes a whole block of a request. With the same table of fields, the same bytes say the same.
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

  /** Tells whether a whole block is one of trailers. */
  readTrailers(bytes: Buffer, start: number, end: number): boolean {
    const { fields, count } = this.#decoder.decode(bytes, start, end);
    return fields.length === count && areTrailers(fields);
  }

  /** Decodes a block that is not used, to keep the table of fields in step. */
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
