/** Source: RFC 9113, section 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

/** Source: RFC 9113, section 3.4. */
export const PREFACE: Uint8Array = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Length, type, flags, stream. Source: RFC 9113, section 4.1. */
export const HEAD_BYTES = 9;
/** The longest frame, since our SETTINGS do not raise the limit. Source: RFC 9113, section 4.2. */
export const MAX_FRAME_BYTES = 16_384;

export function writeFrameHead(
  into: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): void {
  into[at] = length >>> 16;
  into[at + 1] = length >>> 8;
  into[at + 2] = length;
  into[at + 3] = type;
  into[at + 4] = flags;
  writeUint32(into, at + 5, stream);
}

export function writeUint32(into: Buffer, at: number, value: number): void {
  into[at] = value >>> 24;
  into[at + 1] = value >>> 16;
  into[at + 2] = value >>> 8;
  into[at + 3] = value;
}

/** Reads a number without the first bit, which is reserved. */
export function readUint31(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) & 0x7fffffff;
}

const EMPTY: Uint8Array = Buffer.alloc(0);

/** Returns a frame in its own buffer, such as one that is the same for every connection. */
export function frame(type: number, flags: number, stream: number, payload = EMPTY): Buffer {
  const bytes = Buffer.allocUnsafeSlow(HEAD_BYTES + payload.length);
  writeFrameHead(bytes, 0, payload.length, type, flags, stream);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}
