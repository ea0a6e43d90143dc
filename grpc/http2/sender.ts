import { FLAG, FRAME, HEAD_BYTES } from './frame.ts';
import {
  FLAGS_AT,
  framed,
  HEADERS_FRAME,
  OK_FRAME,
  PREFIX_BYTES,
  STREAM_AT,
} from './grpc-blocks.ts';
import { NO_TABLE } from './hpack-encode.ts';
import { MAX_SENT_FRAME_BYTES, type Output } from './output.ts';
import { MAX_WINDOW } from './settings.ts';
import type { Stream } from './stream.ts';

/**
 * Sends answers on the streams of one connection, as far as the peer's windows allow. Source: RFC
 * 9113, sections 5.2 and 6.9.
 */
export class Sender {
  readonly #output: Output;
  readonly #onEnd: (stream: Stream) => void;
  /**
   * Streams that wait for the window of the connection, in the order in which they began to wait.
   */
  readonly #waiting = new Set<Stream>();
  #window = 65_535;
  #mustGiveUpTable = false;
  /** The first window of new streams. Source: RFC 9113, section 6.9.2. */
  initialWindow = 65_535;
  /** Waiting bytes of all streams. */
  unsentBytes = 0;

  /** Calls `onEnd` for each stream on which all has been sent. */
  constructor(output: Output, onEnd: (stream: Stream) => void) {
    this.#output = output;
    this.#onEnd = onEnd;
  }

  /** Sends one uncompressed message, and status OK. */
  respond(stream: Stream, message: Uint8Array): void {
    if (stream.isClosed || stream.hasHeaders) return;
    stream.hasHeaders = true;
    this.#headers(stream, HEADERS_FRAME);
    const bytes = PREFIX_BYTES + message.length;
    if (bytes > MAX_SENT_FRAME_BYTES || bytes > this.#window || bytes > stream.sendWindow) {
      this.data(stream, framed(message), () => this.ok(stream));
    } else {
      this.#window -= bytes;
      this.#output.message(stream.id, message);
      this.ok(stream);
    }
  }

  /** Begins an answer of several messages. */
  begin(stream: Stream): void {
    stream.hasHeaders = true;
    this.#headers(stream, HEADERS_FRAME);
  }

  /** Ends an answer with status OK. */
  ok(stream: Stream): void {
    this.#headers(stream, OK_FRAME);
    this.#onEnd(stream);
  }

  /** Sends an answer that is one block of headers alone. */
  refuse(stream: Stream, block: Uint8Array): void {
    if (stream.isClosed || stream.hasHeaders) return;
    stream.hasHeaders = true;
    this.#block(stream, FLAG.endHeaders | FLAG.endStream, block);
    this.#onEnd(stream);
  }

  /** Sends a part of an answer. More may follow once it has been `sent`. */
  data(stream: Stream, bytes: Buffer, sent: () => void): void {
    this.unsentBytes += bytes.length;
    stream.unsent = { bytes, at: 0, sent };
    this.#waiting.add(stream);
    this.#send(stream);
  }

  /** Drops what a stream still has to send. */
  forget(stream: Stream): void {
    const { unsent } = stream;
    if (unsent === undefined) return;
    this.unsentBytes -= unsent.bytes.length - unsent.at;
    stream.unsent = undefined;
    this.#waiting.delete(stream);
  }

  /**
   * Widens the window of the connection.
   * @returns false when it is too wide
   */
  widen(bytes: number): boolean {
    if (this.#window + bytes > MAX_WINDOW) return false;
    this.#window += bytes;
    for (const stream of this.#waiting) {
      if (this.#window === 0) break;
      this.#send(stream);
    }
    return true;
  }

  /**
   * Widens the window of a stream. A setting may make it narrower, even negative.
   * @returns false when it is too wide
   */
  widenStream(stream: Stream, bytes: number): boolean {
    if (stream.sendWindow + bytes > MAX_WINDOW) return false;
    stream.sendWindow += bytes;
    if (stream.unsent !== undefined && stream.sendWindow > 0) {
      this.#waiting.add(stream);
      this.#send(stream);
    }
    return true;
  }

  /**
   * Tells the peer with our next headers that we use no table of fields. Its own limit has become
   * smaller than the size that it assumes for our table. Source: RFC 9113, section 4.3.1.
   */
  giveUpTable(): void {
    this.#mustGiveUpTable = true;
  }

  #headers(stream: Stream, made: Buffer): void {
    if (this.#mustGiveUpTable) this.#block(stream, made[FLAGS_AT] ?? 0, made.subarray(HEAD_BYTES));
    else this.#output.made(made, STREAM_AT, stream.id);
  }

  #block(stream: Stream, flags: number, block: Uint8Array): void {
    const whole = this.#mustGiveUpTable ? Buffer.concat([NO_TABLE, block]) : block;
    this.#mustGiveUpTable = false;
    this.#output.frame(FRAME.headers, flags, stream.id, whole);
  }

  #send(stream: Stream): void {
    const { unsent } = stream;
    while (unsent !== undefined && unsent.at < unsent.bytes.length) {
      // A stream whose own window is closed does not wait for the connection's.
      if (stream.sendWindow <= 0) this.#waiting.delete(stream);
      if (stream.sendWindow <= 0 || this.#window <= 0) return;
      const most = Math.min(this.#window, stream.sendWindow, MAX_SENT_FRAME_BYTES);
      const bytes = unsent.bytes.subarray(unsent.at, unsent.at + most);
      this.#output.frame(FRAME.data, 0, stream.id, bytes);
      unsent.at += bytes.length;
      this.unsentBytes -= bytes.length;
      this.#window -= bytes.length;
      stream.sendWindow -= bytes.length;
    }
    stream.unsent = undefined;
    this.#waiting.delete(stream);
    unsent?.sent();
  }
}
