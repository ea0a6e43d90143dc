import { constants, type ServerHttp2Stream } from 'node:http2';
import { PREFIX_BYTES } from './http2/grpc-blocks.ts';
import { KeptBytes } from './kept-bytes.ts';

/** What Node keeps for a piece, beside its bytes. */
const PIECE_BYTES = 200;

/**
 * Bounds what is kept of messages of which the end has not come, of all calls of a server. When it
 * is too much, the call whose message began first is ended. grpc-js bounds each message alone, and
 * a connection may have a thousand.
 */
export class UnfinishedMessages {
  readonly #kept: KeptBytes<ServerHttp2Stream>;

  constructor(mostBytes: number) {
    this.#kept = new KeptBytes(mostBytes, stream =>
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM),
    );
  }

  /** Follows the messages of a call, which somebody else reads. */
  watch(stream: ServerHttp2Stream): void {
    const lengths = new MessageLengths();
    let read: ArrayBufferLike | undefined;
    stream.on('data', (chunk: Buffer) => {
      if (lengths.push(chunk)) {
        this.#kept.drop(stream);
        read = undefined;
      }
      if (lengths.isBetween) return;
      // A piece keeps all that came in the same read, of which other pieces may be.
      this.#kept.add(stream, PIECE_BYTES + (chunk.buffer === read ? 0 : chunk.buffer.byteLength));
      read = chunk.buffer;
    });
    stream.once('close', () => this.#kept.drop(stream));
  }
}

/** Finds the ends of messages. Source: gRPC over HTTP2, "Length-Prefixed-Message". */
class MessageLengths {
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixRead = 0;
  #left = 0;

  /** Tells whether the last message has ended, and no other has begun. */
  get isBetween(): boolean {
    return this.#prefixRead === 0;
  }

  /** Reads a piece. Tells whether a message ends in it. */
  push(chunk: Buffer): boolean {
    let ends = false;
    for (let at = 0; at < chunk.length; ) {
      at += this.#prefixRead < PREFIX_BYTES ? this.#readPrefix(chunk, at) : this.#skip(chunk, at);
      if (this.#prefixRead < PREFIX_BYTES || this.#left > 0) continue;
      this.#prefixRead = 0;
      ends = true;
    }
    return ends;
  }

  #readPrefix(chunk: Buffer, at: number): number {
    const read = chunk.copy(this.#prefix, this.#prefixRead, at);
    this.#prefixRead += read;
    if (this.#prefixRead === PREFIX_BYTES) this.#left = this.#prefix.readUInt32BE(1);
    return read;
  }

  #skip(chunk: Buffer, at: number): number {
    const skipped = Math.min(this.#left, chunk.length - at);
    this.#left -= skipped;
    return skipped;
  }
}
