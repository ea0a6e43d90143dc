import { PREFIX_BYTES } from '#grpc/http2/grpc-blocks.ts';
import { type Failure, failure } from './method.ts';

const NOTHING = Buffer.alloc(0);
const NONE = failure('UNIMPLEMENTED', 'the call has no message, and the method wants one');
const MORE = failure(
  'UNIMPLEMENTED',
  'the call has more than one message, and the method wants one',
);
const CUT = failure('INTERNAL', 'the message ends before its length');
const BAD_FLAG = failure('INTERNAL', 'the message has a flag that is neither 0 nor 1');
const NOT_COMPRESSED = failure(
  'INTERNAL',
  'the message is compressed, but grpc-encoding does not say how',
);
export const COMPRESSED: Failure = failure(
  'UNIMPLEMENTED',
  'compressed messages are not read here',
);

/**
 * Reads the one message of a call out of the pieces that its DATA frames bring. Nothing is kept of
 * a message that is too long. Of others at most twice what has come is kept. Source: gRPC over
 * HTTP2, "Length-Prefixed-Message".
 */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #encoding: string;
  #bytes: Buffer = NOTHING;
  #length = 0;

  /** `encoding` is the call's grpc-encoding. */
  constructor(maxBytes: number, encoding: string) {
    this.#maxBytes = maxBytes;
    this.#encoding = encoding;
  }

  /** Tells whether as much as the prefix promises has come. */
  get isWhole(): boolean {
    return this.#length >= PREFIX_BYTES && this.#length === PREFIX_BYTES + this.#declared();
  }

  /**
   * Reads a piece.
   * @returns why the call must be refused, as soon as it is known
   */
  push(chunk: Buffer): Failure | undefined {
    const isFirst = this.#length === 0;
    if (isFirst) this.#bytes = chunk;
    else this.#append(chunk);
    this.#length += chunk.length;
    if (this.#length === 0) return undefined;
    const failed = this.#checkFlag() ?? this.#checkLength();
    if (failed !== undefined) this.clear();
    else if (isFirst && !this.isWhole) this.#bytes = alone(chunk);
    return failed;
  }

  /** Returns the message, after all of the call has come. */
  message(): Buffer | Failure {
    if (this.#length === 0) return NONE;
    if (this.#length < PREFIX_BYTES || this.#length < PREFIX_BYTES + this.#declared()) return CUT;
    return this.#bytes.subarray(PREFIX_BYTES, this.#length);
  }

  clear(): void {
    this.#bytes = NOTHING;
    this.#length = 0;
  }

  #checkFlag(): Failure | undefined {
    const flag = this.#bytes[0];
    if (flag === 0) return undefined;
    if (flag !== 1) return BAD_FLAG;
    return this.#encoding === '' || this.#encoding === 'identity' ? NOT_COMPRESSED : COMPRESSED;
  }

  #checkLength(): Failure | undefined {
    if (this.#length < PREFIX_BYTES) return undefined;
    const declared = this.#declared();
    if (declared > this.#maxBytes) {
      return failure(
        'RESOURCE_EXHAUSTED',
        `the message has ${declared} bytes, more than ${this.#maxBytes} are not read`,
      );
    }
    return this.#length > PREFIX_BYTES + declared ? MORE : undefined;
  }

  #declared(): number {
    return this.#bytes.readUInt32BE(1);
  }

  /** Copies, so that a message in a million pieces costs what one in one piece does. */
  #append(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#length));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    chunk.copy(this.#bytes, this.#length);
  }
}

/**
 * Copies a piece that waits. Else it would keep all that came in the same read, up to 64 KiB for
 * one byte.
 */
function alone(chunk: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(chunk.length);
  chunk.copy(copy);
  return copy;
}
