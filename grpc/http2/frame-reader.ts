import { ConnectionError, ERROR } from './error-code.ts';
import { HEAD_BYTES, MAX_FRAME_BYTES, PREFACE, readUint31 } from './frame.ts';

/**
 * Receives each whole frame. Its payload is `bytes` from `start` to `end`, and nobody changes it
 * later.
 */
export type OnFrame = (
  type: number,
  flags: number,
  stream: number,
  bytes: Buffer,
  start: number,
  end: number,
) => void;

/**
 * Reads the frames of a connection out of the chunks that it brings. A frame that is whole in a
 * chunk is not copied. Of a frame that is not whole, only the frame itself is kept. Source: RFC
 * 9113, sections 3.4 and 4.1.
 */
export class FrameReader {
  readonly #onFrame: OnFrame;
  #prefaceBytes = 0;
  /**
   * The start of a frame whose rest has not come. It is the head, or the whole frame once its
   * length is known.
   */
  #part: Buffer | undefined;
  #have = 0;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /**
   * Reads a chunk. Throws a ConnectionError for bytes that are no frame, and for a frame that is
   * too long.
   */
  push(chunk: Buffer): void {
    let at = this.#prefaceBytes < PREFACE.length ? this.#readPreface(chunk) : 0;
    if (this.#part !== undefined) at = this.#complete(this.#part, chunk, at);
    while (at + HEAD_BYTES <= chunk.length) {
      const end = at + HEAD_BYTES + payloadBytes(chunk, at);
      if (end > chunk.length) break;
      this.#tell(chunk, at, end);
      at = end;
    }
    if (at < chunk.length) this.#keep(chunk, at);
  }

  #readPreface(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.#prefaceBytes < PREFACE.length) {
      if (chunk[at++] !== PREFACE[this.#prefaceBytes++])
        throw new ConnectionError(ERROR.protocolError, 'the preface is not that of HTTP/2');
    }
    return at;
  }

  #tell(bytes: Buffer, at: number, end: number): void {
    const stream = readUint31(bytes, at + 5);
    this.#onFrame(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, stream, bytes, at + HEAD_BYTES, end);
  }

  #keep(chunk: Buffer, at: number): void {
    const whole = chunk.length - at < HEAD_BYTES ? 0 : payloadBytes(chunk, at);
    this.#part = Buffer.allocUnsafeSlow(HEAD_BYTES + whole);
    this.#have = chunk.copy(this.#part, 0, at);
  }

  /** Completes the frame that an earlier chunk began. Returns where the chunk goes on behind it. */
  #complete(begun: Buffer, chunk: Buffer, from: number): number {
    let part = begun;
    let at = this.#fill(part, chunk, from);
    if (this.#have < part.length) return at;
    if (part.length === HEAD_BYTES) {
      part = Buffer.allocUnsafeSlow(HEAD_BYTES + payloadBytes(begun, 0));
      begun.copy(part);
      this.#part = part;
      at = this.#fill(part, chunk, at);
      if (this.#have < part.length) return at;
    }
    this.#part = undefined;
    this.#tell(part, 0, part.length);
    return at;
  }

  #fill(part: Buffer, chunk: Buffer, at: number): number {
    const copied = chunk.copy(part, this.#have, at);
    this.#have += copied;
    return at + copied;
  }
}

/** Source: RFC 9113, section 4.2. */
function payloadBytes(bytes: Buffer, at: number): number {
  const length = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  if (length > MAX_FRAME_BYTES)
    throw new ConnectionError(
      ERROR.frameSizeError,
      `a frame of ${length} bytes, of ${MAX_FRAME_BYTES}`,
    );
  return length;
}
