import { ERROR, type ErrorCode } from './error-code.ts';
import { FRAME } from './frame.ts';
import type { Output } from './output.ts';
import { settingsOf } from './settings.ts';

const ACK = 0x1;
const NOTHING: Uint8Array = Buffer.alloc(0);
const PING: Uint8Array = Buffer.alloc(8);
/** The peer's answer to it says that it has read all that we sent before it. */
const LEAVING: Uint8Array = Buffer.from('goodbye ');
/** The highest stream number that there can be. */
const ANY_STREAM = 2 ** 31 - 1;

/** Source: RFC 9113, section 6.5. */
export function sendSettings(output: Output, maxStreams: number, maxHeaderBytes: number): void {
  output.frame(FRAME.settings, 0, 0, settingsOf(maxStreams, maxHeaderBytes));
}

export function acknowledgeSettings(output: Output): void {
  output.frame(FRAME.settings, ACK, 0, NOTHING);
}

/** Source: RFC 9113, section 6.7. */
export function sendPing(output: Output): void {
  output.frame(FRAME.ping, 0, 0, PING);
}

/**
 * Asks the peer to open no more streams, and to confirm that it has read so. Source: RFC 9113,
 * section 6.8.
 */
export function sendLeaving(output: Output): void {
  sendGoaway(output, ANY_STREAM, ERROR.noError, '');
  output.frame(FRAME.ping, 0, 0, LEAVING);
}

export function isOfLeaving(payload: Buffer): boolean {
  return payload.equals(LEAVING);
}

export function answerPing(output: Output, payload: Uint8Array): void {
  output.frame(FRAME.ping, ACK, 0, payload);
}

/** Widens a window. Stream 0 is the window of the connection. Source: RFC 9113, section 6.9. */
export function sendWindowUpdate(output: Output, stream: number, bytes: number): void {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(bytes);
  output.frame(FRAME.windowUpdate, 0, stream, payload);
}

/** Source: RFC 9113, section 6.4. */
export function sendReset(output: Output, stream: number, code: ErrorCode): void {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(code);
  output.frame(FRAME.rstStream, 0, stream, payload);
}

/** Sends a GOAWAY. No stream after `last` was or will be handled. Source: RFC 9113, section 6.8. */
export function sendGoaway(output: Output, last: number, code: ErrorCode, message: string): void {
  const text = Buffer.from(message);
  const payload = Buffer.allocUnsafe(8 + text.length);
  payload.writeUInt32BE(last, 0);
  payload.writeUInt32BE(code, 4);
  payload.set(text, 8);
  output.frame(FRAME.goaway, 0, 0, payload);
}
