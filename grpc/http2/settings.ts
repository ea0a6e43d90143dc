import { ConnectionError, ERROR } from './error-code.ts';

/** Source: RFC 9113, section 6.5.2. */
const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;
/** The size of the table of fields until a side changes it. Source: RFC 9113, section 6.5.2. */
export const TABLE_BYTES = 4_096;
const ENTRY_BYTES = 6;
/** There are seven settings. A peer that sends many more is attacking. */
const MAX_ENTRIES = 32;
/** The widest window. Source: RFC 9113, section 6.9.1. */
export const MAX_WINDOW = 2 ** 31 - 1;

/**
 * The part of a peer's SETTINGS that concerns us. We push nothing and send short frames, so the
 * rest does not matter.
 */
export type PeerSettings = {
  /** The window of streams. Undefined when it has not changed. */
  readonly initialWindow: number | undefined;
  /** Whether our table of fields may no longer have its first size. */
  readonly shrinksTable: boolean;
};

export function readSettings(bytes: Buffer, start: number, end: number): PeerSettings {
  if ((end - start) % ENTRY_BYTES !== 0)
    throw new ConnectionError(ERROR.frameSizeError, 'SETTINGS with an invalid length');
  if (end - start > MAX_ENTRIES * ENTRY_BYTES)
    throw new ConnectionError(ERROR.enhanceYourCalm, 'SETTINGS with too many entries');
  let initialWindow: number | undefined;
  let shrinksTable = false;
  for (let at = start; at < end; at += ENTRY_BYTES) {
    const value = bytes.readUInt32BE(at + 2);
    const id = bytes.readUInt16BE(at);
    check(id, value);
    if (id === SETTING.initialWindowSize) initialWindow = value;
    // The smallest of several counts. Source: RFC 7541, section 4.2.
    if (id === SETTING.headerTableSize && value < TABLE_BYTES) shrinksTable = true;
  }
  return { initialWindow, shrinksTable };
}

function check(id: number, value: number): void {
  if (id === SETTING.enablePush && value > 1)
    throw new ConnectionError(ERROR.protocolError, 'SETTINGS_ENABLE_PUSH that is neither 0 nor 1');
  if (id === SETTING.initialWindowSize && value > MAX_WINDOW)
    throw new ConnectionError(
      ERROR.flowControlError,
      'SETTINGS_INITIAL_WINDOW_SIZE that is too wide',
    );
  if (id === SETTING.maxFrameSize && (value < 16_384 || value > 16_777_215))
    throw new ConnectionError(ERROR.protocolError, 'SETTINGS_MAX_FRAME_SIZE out of its range');
}

/** Returns our own SETTINGS as a payload. */
export function settingsOf(maxStreams: number, maxHeaderBytes: number): Buffer {
  const bytes = Buffer.alloc(2 * ENTRY_BYTES);
  bytes.writeUInt16BE(SETTING.maxConcurrentStreams, 0);
  bytes.writeUInt32BE(maxStreams, 2);
  bytes.writeUInt16BE(SETTING.maxHeaderListSize, ENTRY_BYTES);
  bytes.writeUInt32BE(maxHeaderBytes, ENTRY_BYTES + 2);
  return bytes;
}
