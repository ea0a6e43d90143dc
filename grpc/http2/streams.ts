import type { Conduct } from './conduct.ts';
import { sendReset, sendWindowUpdate } from './control-frames.ts';
import { ERROR, type ErrorCode, failConnection } from './error-code.ts';
import type { BadHead, HeaderBlocks } from './header-blocks.ts';
import type { Output } from './output.ts';
import { ReceiveWindow } from './receive-window.ts';
import type { RequestHead } from './request-head.ts';
import { ResetStreams } from './reset-streams.ts';
import { Sender } from './sender.ts';
import { type RequestReader, Stream } from './stream.ts';

/** Answers the requests of a connection. For 'too long' headers, none of them were kept. */
export type OnRequest = (
  stream: Stream,
  head: RequestHead | 'too long',
) => RequestReader | undefined;

export type StreamsParts = {
  readonly output: Output;
  readonly blocks: HeaderBlocks;
  readonly conduct: Conduct;
  readonly maxStreams: number;
  readonly onRequest: OnRequest;
  /** Hears of DATA that its reader did not read at once but has read now. */
  readonly onRead: (bytes: number) => void;
};

/** The first window of all streams. Source: RFC 9113, section 6.9.2. */
const STREAM_WINDOW = 65_535;

/**
 * The streams of a connection, from their headers to their end. Source: RFC 9113, sections 5.1 and
 * 8.1.
 */
export class Streams {
  readonly sender: Sender;
  readonly #parts: StreamsParts;
  readonly #open = new Map<number, Stream>();
  readonly #reset = new ResetStreams();
  #isDraining = false;
  /** The highest stream that has begun. */
  lastId = 0;

  constructor(parts: StreamsParts) {
    this.#parts = parts;
    this.sender = new Sender(parts.output, stream => this.#endLocal(stream));
  }

  [Symbol.iterator](): Iterator<Stream> {
    return this.#open.values();
  }

  /** Tells whether all have ended and no more will come. */
  get areOver(): boolean {
    return this.#isDraining && this.#open.size === 0;
  }

  /** Accepts no new streams. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Ends all streams without sending anything. */
  end(): void {
    for (const stream of this.#open.values()) this.#close(stream);
  }

  /**
   * Handles DATA of `length` bytes with its padding. Returns how much of it has not been read.
   * Source: RFC 9113, section 6.1.
   */
  data(id: number, bytes: Buffer, length: number, isEnd: boolean): number {
    const stream = this.#open.get(id);
    if (stream === undefined) this.#lateData(id, isEnd);
    else if (stream.isRemoteEnded) this.#fail(stream, ERROR.streamClosed);
    else if (!this.#takes(stream, length, isEnd)) this.#fail(stream, ERROR.flowControlError);
    else return this.#read(stream, bytes, length, isEnd);
    return 0;
  }

  /** Handles a whole block of headers. Source: RFC 9113, section 6.2. */
  headers(id: number, isEnd: boolean, bytes: Buffer, start: number, end: number): void {
    const stream = this.#open.get(id);
    if (id > this.lastId) this.#begin(id, isEnd, this.#parts.blocks.readHead(bytes, start, end));
    else if (stream === undefined) this.#lateHeaders(id, isEnd, bytes, start, end);
    else this.#trailers(stream, isEnd, this.#parts.blocks.readTrailers(bytes, start, end));
  }

  /** Source: RFC 9113, section 6.4. */
  resetByPeer(id: number): void {
    this.#checkBegun(id);
    this.#parts.conduct.reset();
    this.#reset.delete(id);
    const stream = this.#open.get(id);
    if (stream !== undefined) this.#close(stream);
  }

  /** Source: RFC 9113, section 6.9. */
  widen(id: number, bytes: number): void {
    this.#checkBegun(id);
    const stream = this.#open.get(id);
    if (stream === undefined) return;
    if (bytes === 0) this.#fail(stream, ERROR.protocolError);
    else if (!this.sender.widenStream(stream, bytes)) this.#fail(stream, ERROR.flowControlError);
  }

  /**
   * Applies a setting of the peer that changes the windows of all streams. Source: RFC 9113,
   * section 6.9.2.
   */
  resizeWindows(window: number): void {
    const more = window - this.sender.initialWindow;
    this.sender.initialWindow = window;
    for (const stream of this.#open.values()) {
      if (!this.sender.widenStream(stream, more))
        failConnection(ERROR.flowControlError, 'a window that is too wide');
    }
  }

  /** Lets the peer send more, after a reader has read what it did not read at once. */
  read(stream: Stream, bytes: number): void {
    if (bytes === 0 || stream.isClosed) return;
    stream.unreadBytes -= bytes;
    this.#parts.onRead(bytes);
    this.#allow(stream, bytes);
  }

  reset(stream: Stream, code: ErrorCode): void {
    if (stream.isClosed) return;
    this.#sendReset(stream.id, code, stream.isRemoteEnded);
    this.#close(stream);
  }

  /**
   * A frame on an idle stream ends the connection. Streams behind our GOAWAY are unknown. Source:
   * RFC 9113, section 5.1.
   */
  #checkBegun(id: number): void {
    if (id % 2 === 1 && (id <= this.lastId || this.#isDraining)) return;
    failConnection(ERROR.protocolError, 'a frame of a stream that has not begun');
  }

  #begin(id: number, isEnd: boolean, head: RequestHead | BadHead): void {
    // Frames behind our GOAWAY are ignored. Source: RFC 9113, section 6.8.
    if (this.#isDraining) {
      this.#parts.conduct.idleFrame();
      return;
    }
    this.lastId = id;
    const isFull = this.#open.size >= this.#parts.maxStreams;
    if (isFull) this.#turnAway(id, isEnd);
    else if (head === 'malformed') this.#refuse(id, ERROR.protocolError, isEnd);
    else if (head === 'too many fields') this.#refuse(id, ERROR.enhanceYourCalm, isEnd);
    else this.#serve(id, isEnd, head);
  }

  #serve(id: number, isEnd: boolean, head: RequestHead | 'too long'): void {
    const length = head === 'too long' ? undefined : head.contentLength;
    const stream = new Stream(id, length, this.sender.initialWindow, isEnd);
    this.#open.set(id, stream);
    if (isEnd && !isAllOf(stream)) {
      this.#fail(stream, ERROR.protocolError);
      return;
    }
    stream.reader = this.#parts.onRequest(stream, head);
    if (isEnd) stream.reader?.end();
  }

  #trailers(stream: Stream, isEnd: boolean, areGood: boolean): void {
    const code = stream.isRemoteEnded ? ERROR.streamClosed : ERROR.protocolError;
    const isRight = !stream.isRemoteEnded && areGood && isEnd && isAllOf(stream);
    stream.isRemoteEnded ||= isEnd;
    if (isRight) stream.reader?.end();
    else this.#fail(stream, code);
  }

  /**
   * Handles headers on a stream that we have ended. They may have been on their way. Source: RFC
   * 9113, section 5.1, "closed".
   */
  #lateHeaders(id: number, isEnd: boolean, bytes: Buffer, start: number, end: number): void {
    if (!this.#reset.has(id))
      failConnection(ERROR.streamClosed, 'HEADERS on a stream that is closed');
    if (isEnd) this.#reset.delete(id);
    this.#parts.blocks.skip(bytes, start, end);
    this.#parts.conduct.idleFrame();
  }

  #lateData(id: number, isEnd: boolean): void {
    this.#checkBegun(id);
    // The peer may still end each stream that we have reset.
    if (isEnd && this.#reset.delete(id)) return;
    this.#parts.conduct.idleFrame();
  }

  /**
   * Tells whether the stream's window allows the bytes. It always allows a request in one frame.
   * Source: RFC 9113, section 6.9.1.
   */
  #takes(stream: Stream, length: number, isEnd: boolean): boolean {
    if (isEnd && stream.receiveWindow === undefined) return true;
    stream.receiveWindow ??= new ReceiveWindow(STREAM_WINDOW);
    return stream.receiveWindow.take(length);
  }

  #read(stream: Stream, bytes: Buffer, length: number, isEnd: boolean): number {
    if (bytes.length === 0 && !isEnd) this.#parts.conduct.idleFrame();
    stream.receivedBytes += bytes.length;
    stream.isRemoteEnded = isEnd;
    if (isEnd && !isAllOf(stream)) {
      this.#fail(stream, ERROR.protocolError);
      return 0;
    }
    const isRead = stream.reader?.data(bytes, isEnd) ?? true;
    const unread = isRead || stream.isClosed ? 0 : bytes.length;
    stream.unreadBytes += unread;
    this.#allow(stream, length - unread);
    return unread;
  }

  #allow(stream: Stream, bytes: number): void {
    if (stream.isClosed || stream.isRemoteEnded) return;
    const opened = stream.receiveWindow?.read(bytes) ?? 0;
    if (opened > 0) sendWindowUpdate(this.#parts.output, stream.id, opened);
  }

  #fail(stream: Stream, code: ErrorCode): void {
    this.#parts.conduct.idleFrame();
    this.reset(stream, code);
  }

  /**
   * Refuses a stream beyond the limit. The peer may not have read yet how many it may open, so it
   * counts as reset by the peer. Source: RFC 9113, section 5.1.2.
   */
  #turnAway(id: number, isEnd: boolean): void {
    this.#parts.conduct.reset();
    this.#sendReset(id, ERROR.refusedStream, isEnd);
  }

  #refuse(id: number, code: ErrorCode, isEnd: boolean): void {
    this.#parts.conduct.idleFrame();
    this.#sendReset(id, code, isEnd);
  }

  #sendReset(id: number, code: ErrorCode, isRemoteEnded: boolean): void {
    sendReset(this.#parts.output, id, code);
    if (!isRemoteEnded) this.#reset.add(id);
  }

  /**
   * Ends our side after all has been sent. The rest of the request is ignored. Source: RFC 9113,
   * section 8.1.
   */
  #endLocal(stream: Stream): void {
    this.#parts.conduct.answered();
    if (stream.isRemoteEnded) this.#close(stream);
    else this.reset(stream, ERROR.noError);
  }

  #close(stream: Stream): void {
    stream.isClosed = true;
    this.#open.delete(stream.id);
    this.sender.forget(stream);
    this.#parts.onRead(stream.unreadBytes);
    stream.reader?.close();
  }
}

/** Source: RFC 9113, section 8.1.1. */
function isAllOf({ contentLength, receivedBytes }: Stream): boolean {
  return contentLength === undefined || contentLength === receivedBytes;
}
