import type { ReceiveWindow } from './receive-window.ts';

/** What hears of the rest of a request after its headers. */
export type RequestReader = {
  /**
   * The bytes stay as they are. True: they are read, and the peer may send as many more; else it is
   * told when they are.
   */
  data(bytes: Buffer, isEnd: boolean): boolean;
  /** The request has ended, without DATA that says so. */
  end(): void;
  /** The stream has ended, well or not. */
  close(): void;
};

/** What of an answer waits for a window, and what is to be done when it is sent. */
export type Unsent = { readonly bytes: Buffer; at: number; readonly sent: () => void };

/** A request and its answer, as far as HTTP/2 knows. Source: RFC 9113, section 5.1. */
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
  /** Made when the request has DATA that is not its last. */
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
