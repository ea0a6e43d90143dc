import { Conduct, type ConductLimits } from './conduct.ts';
import { ConnectionFrames } from './connection-frames.ts';
import {
  sendGoaway,
  sendLeaving,
  sendPing,
  sendSettings,
  sendWindowUpdate,
} from './control-frames.ts';
import { ConnectionError, ERROR, failConnection } from './error-code.ts';
import { FLAG, FRAME, readUint31 } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import { HeaderBlocks } from './header-blocks.ts';
import type { HeaderLimits } from './hpack-decoder.ts';
import type { Output } from './output.ts';
import { checkLength, checkOnStream, contentEnd, contentStart, fieldsStart } from './payload.ts';
import { ReceiveWindow } from './receive-window.ts';
import { type OnRequest, Streams } from './streams.ts';

export type SessionLimits = HeaderLimits & ConductLimits & { readonly maxStreams: number };

/**
 * The window for what is sent to us on all streams, as it begins (RFC 9113, section 6.9.2) and as
 * we widen it.
 */
const FIRST_WINDOW = 65_535;
const WINDOW = 2 ** 20;

/**
 * Runs one connection of a server, without its socket. The peer's bytes come in, and frames go to
 * `output`. A forbidden frame ends its stream or, with a last GOAWAY, the connection. Source: RFC
 * 9113.
 */
export class Session {
  readonly streams: Streams;
  readonly #output: Output;
  readonly #conduct: Conduct;
  readonly #blocks: HeaderBlocks;
  readonly #reader: FrameReader;
  readonly #window = new ReceiveWindow(WINDOW);
  readonly #others: ConnectionFrames;
  #hasSettings = false;
  /** The stream whose headers are not whole, or 0, and whether they end it. */
  #openBlock = 0;
  #openBlockEnds = false;
  #isLeaving = false;
  #hasEnded = false;

  /** `now` is a clock that is never set, in ms. */
  constructor(output: Output, limits: SessionLimits, onRequest: OnRequest, now: () => number) {
    this.#output = output;
    this.#conduct = new Conduct(limits, now);
    this.#blocks = new HeaderBlocks(limits);
    const { maxStreams } = limits;
    const parts = { output, blocks: this.#blocks, conduct: this.#conduct, maxStreams, onRequest };
    this.streams = new Streams({ ...parts, onRead: bytes => this.#read(bytes) });
    this.#others = new ConnectionFrames(output, this.streams, () => this.#leave());
    this.#reader = new FrameReader((type, flags, stream, bytes, start, end) =>
      this.#onFrame(type, flags, stream, bytes, start, end),
    );
    sendSettings(output, maxStreams, limits.maxBytes);
    sendWindowUpdate(output, 0, WINDOW - FIRST_WINDOW);
  }

  /** Tells whether nothing more is read or answered. */
  get isOver(): boolean {
    return this.#hasEnded || this.streams.areOver;
  }

  /** Our pings that the peer has answered. */
  get pongs(): number {
    return this.#others.pongs;
  }

  /** Reads what the peer sent. */
  receive(chunk: Buffer): void {
    if (this.isOver) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      sendGoaway(this.#output, this.streams.lastId, error.code, error.message);
      this.end();
    }
  }

  /** Asks the peer whether it is there. */
  ping(): void {
    if (!this.isOver) sendPing(this.#output);
  }

  /**
   * Tells the peer to go elsewhere. Calls that it sent before it knew are answered, and later ones
   * are ignored. The session ends when all is answered. It waits for a peer that does not confirm
   * the GOAWAY. Source: RFC 9113, section 6.8.
   */
  drain(): void {
    if (this.isOver || this.#isLeaving) return;
    this.#isLeaving = true;
    sendLeaving(this.#output);
  }

  #leave(): void {
    if (!this.#isLeaving) return;
    this.#isLeaving = false;
    this.streams.drain();
    sendGoaway(this.#output, this.streams.lastId, ERROR.noError, '');
  }

  /** Ends all streams without sending anything. */
  end(): void {
    this.#hasEnded = true;
    this.streams.end();
  }

  #onFrame(
    type: number,
    flags: number,
    id: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void {
    if (this.isOver) return;
    if (!this.#hasSettings) this.#checkFirst(type, flags);
    if (this.#openBlock !== 0) this.#checkContinued(type, id);
    switch (type) {
      case FRAME.data:
        this.#onData(flags, id, bytes, start, end);
        break;
      case FRAME.headers:
        this.#onHeaders(flags, id, bytes, start, end);
        break;
      case FRAME.continuation:
        this.#onContinuation(flags, bytes, start, end);
        break;
      case FRAME.rstStream:
        checkLength('RST_STREAM', end - start, 4);
        this.streams.resetByPeer(id);
        break;
      case FRAME.windowUpdate:
        this.#onWindowUpdate(id, bytes, start, end);
        break;
      default:
        this.#conduct.idleFrame();
        this.#others.receive(type, flags, id, bytes, start, end);
    }
  }

  /** Source: RFC 9113, section 3.4. */
  #checkFirst(type: number, flags: number): void {
    if (type !== FRAME.settings || (flags & FLAG.ack) !== 0)
      failConnection(ERROR.protocolError, 'a connection that does not begin with SETTINGS');
    this.#hasSettings = true;
  }

  /** Source: RFC 9113, section 6.10. */
  #checkContinued(type: number, id: number): void {
    if (type !== FRAME.continuation || id !== this.#openBlock)
      failConnection(ERROR.protocolError, 'another frame within headers');
  }

  /**
   * Handles DATA, whose padding counts for the windows. Source: RFC 9113, sections 6.1 and 6.9.1.
   */
  #onData(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    checkOnStream(id);
    const length = end - start;
    if (!this.#window.take(length))
      failConnection(ERROR.flowControlError, 'more DATA than the window allows');
    const from = contentStart(flags, start, end);
    const content = bytes.subarray(from, contentEnd(flags, bytes, start, from, end));
    const unread = this.streams.data(id, content, length, (flags & FLAG.endStream) !== 0);
    this.#read(length - unread);
  }

  #read(bytes: number): void {
    const opened = bytes === 0 ? 0 : this.#window.read(bytes);
    if (opened > 0) sendWindowUpdate(this.#output, 0, opened);
  }

  /** Source: RFC 9113, section 6.2. */
  #onHeaders(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    checkOnStream(id);
    if (id % 2 === 0) failConnection(ERROR.protocolError, 'HEADERS on a stream of an even number');
    const from = fieldsStart(flags, start, end);
    const to = contentEnd(flags, bytes, start, from, end);
    const isEnd = (flags & FLAG.endStream) !== 0;
    if ((flags & FLAG.endHeaders) !== 0) this.streams.headers(id, isEnd, bytes, from, to);
    else {
      this.#openBlock = id;
      this.#openBlockEnds = isEnd;
      this.#blocks.begin(bytes, from, to);
    }
  }

  /** Source: RFC 9113, section 6.10. */
  #onContinuation(flags: number, bytes: Buffer, start: number, end: number): void {
    if (this.#openBlock === 0) failConnection(ERROR.protocolError, 'CONTINUATION of no headers');
    const block = this.#blocks.add(bytes, start, end);
    if ((flags & FLAG.endHeaders) === 0) return;
    const id = this.#openBlock;
    this.#openBlock = 0;
    this.streams.headers(id, this.#openBlockEnds, block, 0, block.length);
  }

  /** Source: RFC 9113, section 6.9. */
  #onWindowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    checkLength('WINDOW_UPDATE', end - start, 4);
    const { sender } = this.streams;
    const { unsentBytes } = sender;
    const opened = readUint31(bytes, start);
    if (id !== 0) this.streams.widen(id, opened);
    else if (opened === 0) failConnection(ERROR.protocolError, 'a window that widens by nothing');
    else if (!sender.widen(opened))
      failConnection(ERROR.flowControlError, 'a window that is too wide');
    if (sender.unsentBytes < unsentBytes) this.#conduct.helped();
    else this.#conduct.idleFrame();
  }
}
