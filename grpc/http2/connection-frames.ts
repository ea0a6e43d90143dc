import { acknowledgeSettings, answerPing, isOfLeaving } from './control-frames.ts';
import { ERROR, failConnection } from './error-code.ts';
import { FLAG, FRAME } from './frame.ts';
import type { Output } from './output.ts';
import { checkLength, checkOnConnection, checkOnStream } from './payload.ts';
import { readSettings } from './settings.ts';
import type { Streams } from './streams.ts';

/**
 * Handles the frames that are part of no request. They set up the connection, test whether it
 * lives, or have no meaning. Source: RFC 9113, section 6.
 */
export class ConnectionFrames {
  readonly #output: Output;
  readonly #streams: Streams;
  readonly #onHeard: () => void;
  /** Our pings that the peer has answered. */
  pongs = 0;

  /** Calls `onHeard` when the peer confirms that it knows of our GOAWAY. */
  constructor(output: Output, streams: Streams, onHeard: () => void) {
    this.#output = output;
    this.#streams = streams;
    this.#onHeard = onHeard;
  }

  /** Handles a frame, and drops one of an unknown type. Source: RFC 9113, section 4.1. */
  receive(
    type: number,
    flags: number,
    id: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void {
    switch (type) {
      case FRAME.settings:
        this.#onSettings(flags, id, bytes, start, end);
        break;
      case FRAME.ping:
        this.#onPing(flags, id, bytes.subarray(start, end));
        break;
      case FRAME.priority:
        // Priorities are deprecated, so only the frame's form is checked. Section 6.3.
        checkOnStream(id);
        checkLength('PRIORITY', end - start, 5);
        break;
      case FRAME.goaway:
        // The peer will end the connection itself. Section 6.8.
        checkOnConnection(id);
        if (end - start < 8) checkLength('GOAWAY', end - start, 8);
        break;
      case FRAME.pushPromise:
        failConnection(ERROR.protocolError, 'PUSH_PROMISE by a client'); // Section 8.4.
    }
  }

  /** Source: RFC 9113, section 6.5. */
  #onSettings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    checkOnConnection(id);
    if ((flags & FLAG.ack) !== 0) {
      checkLength('an answer to SETTINGS', end - start, 0);
      return;
    }
    const { initialWindow, shrinksTable } = readSettings(bytes, start, end);
    // The peer holds us to its settings once it has our acknowledgement. So that must come before
    // the frames that the settings allow.
    acknowledgeSettings(this.#output);
    if (shrinksTable) this.#streams.sender.giveUpTable();
    if (initialWindow !== undefined) this.#streams.resizeWindows(initialWindow);
  }

  /** Source: RFC 9113, section 6.7. */
  #onPing(flags: number, id: number, payload: Buffer): void {
    checkOnConnection(id);
    checkLength('PING', payload.length, 8);
    if ((flags & FLAG.ack) === 0) {
      answerPing(this.#output, payload);
      return;
    }
    this.pongs++;
    if (isOfLeaving(payload)) this.#onHeard();
  }
}
