import type { ReceiveWindow } from './receive-window.ts';

/** Receives the rest of a request after its headers. */
export type RequestReader = {
  /**
   * Receives bytes, which nobody changes later. Returns true when they are read and the peer may
   * send as many more. Else the reader reports later that they are.
   */
  data(bytes: Buffer, isEnd: boolean): boolean;
  /** The request has ended, without DATA that says so. */
  end(): void;
  /** The stream has ended, well or not. */
  close(): void;
};

/** A part of an answer that waits for a window, and what to do when it is sent. */
export type Unsent = { readonly bytes: Buffer; at: number; readonly sent: () => void };

/** A request and its answer, as far as HTTP/2 is concerned. Source: RFC 9113, section 5.1. */
export class Stream {
  readonly id: number;
  readonly contentLength: number | undefined;
  reader: RequestReader | undefined;
  /** Whether the peer has sent all of its request. */
  isRemoteEnded: boolean;
  isClosed = false;
  hasHeaders = false;
  receivedBytes = 0;
  unreadBytes = 0;
  /** Created when the request has DATA that is not its last. */
  receiveWindow: ReceiveWindow | undefined;
  sendWindow: number;
  unsent: Unsent | undefined;

  constructor(
    id: number,
    contentLength: number | undefined,
    sendWindow: number,
    isRemoteEnded: boolean,
  ) {
    this.id = id;
    this.contentLength = contentLength;
    this.sendWindow = sendWindow;
    this.isRemoteEnded = isRemoteEnded;
  }
}
