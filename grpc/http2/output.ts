import { HEAD_BYTES, writeFrameHead, writeUint32 } from './frame.ts';
import { PREFIX_BYTES } from './grpc-blocks.ts';

const BLOCK_BYTES = 16 * 1_024;
/** No frame that we send is longer, so that two fit into a block. */
export const MAX_SENT_FRAME_BYTES = 8_000;
const MAX_FREE_BLOCKS = 64;

/** The blocks that connections write their frames into, in turn. */
export class BlockPool {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Takes back blocks that nobody reads any more. */
  giveBack(blocks: readonly Buffer[]): void {
    for (const block of blocks) if (this.#free.length < MAX_FREE_BLOCKS) this.#free.push(block);
  }
}

/**
 * Bytes to write, and the blocks that hold them. The blocks go back to the pool after the write.
 */
export type Batch = { readonly parts: readonly Buffer[]; readonly blocks: readonly Buffer[] };

/** The frames that wait for the next write of a connection. */
export class Output {
  readonly #pool: BlockPool;
  readonly #blocks: Buffer[] = [];
  readonly #parts: Buffer[] = [];
  #block: Buffer | undefined;
  #at = 0;
  #fullBytes = 0;

  constructor(pool: BlockPool) {
    this.#pool = pool;
  }

  get bytes(): number {
    return this.#fullBytes + this.#at;
  }

  /** Adds a frame, whose payload is at most MAX_SENT_FRAME_BYTES long. */
  frame(type: number, flags: number, stream: number, payload: Uint8Array): void {
    const length = payload.length;
    const block = this.#reserve(HEAD_BYTES + length);
    writeFrameHead(block, this.#at, length, type, flags, stream);
    block.set(payload, this.#at + HEAD_BYTES);
    this.#at += HEAD_BYTES + length;
  }

  /** Adds a copy of a prepared frame, whose stream is at `place`. */
  made(frame: Buffer, place: number, stream: number): void {
    const block = this.#reserve(frame.length);
    block.set(frame, this.#at);
    writeUint32(block, this.#at + place, stream);
    this.#at += frame.length;
  }

  /** Adds a DATA frame with a whole gRPC message that is not compressed. */
  message(stream: number, message: Uint8Array): void {
    const length = PREFIX_BYTES + message.length;
    const block = this.#reserve(HEAD_BYTES + length);
    writeFrameHead(block, this.#at, length, 0, 0, stream);
    block[this.#at + HEAD_BYTES] = 0;
    writeUint32(block, this.#at + HEAD_BYTES + 1, message.length);
    block.set(message, this.#at + HEAD_BYTES + PREFIX_BYTES);
    this.#at += HEAD_BYTES + length;
  }

  take(): Batch {
    this.#closeBlock();
    this.#fullBytes = 0;
    return { parts: this.#parts.splice(0), blocks: this.#blocks.splice(0) };
  }

  #reserve(bytes: number): Buffer {
    if (this.#block !== undefined && this.#at + bytes <= BLOCK_BYTES) return this.#block;
    this.#closeBlock();
    this.#block = this.#pool.take();
    return this.#block;
  }

  #closeBlock(): void {
    if (this.#block === undefined) return;
    this.#blocks.push(this.#block);
    this.#parts.push(this.#block.subarray(0, this.#at));
    this.#fullBytes += this.#at;
    this.#block = undefined;
    this.#at = 0;
  }
}
