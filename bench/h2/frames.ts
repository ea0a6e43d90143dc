/** Source: RFC 9113, section 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
} as const;
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4 } as const;
export const HEAD_BYTES = 9;
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
/** By so many bytes a connection's window can be widened at most at its start. */
export const WIDEST = 2 ** 31 - 1 - 65_535;

const MAX_CONCURRENT_STREAMS = 3;

export function writeHead(
  into: Buffer,
  at: number,
  type: number,
  flags: number,
  stream: number,
  length: number,
): void {
  into.writeUIntBE(length, at, 3);
  into[at + 3] = type;
  into[at + 4] = flags;
  into.writeUInt32BE(stream, at + 5);
}

/** Returns a frame of the whole connection. */
export function frame(type: number, flags: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  writeHead(head, 0, type, flags, 0, payload.length);
  return Buffer.concat([head, payload]);
}

export function widen(bytes: number): Buffer {
  const increment = Buffer.alloc(4);
  increment.writeUInt32BE(bytes);
  return frame(FRAME.windowUpdate, 0, increment);
}

/**
 * Returns how many streams the sender of these SETTINGS allows at once. Source: RFC 9113, section
 * 6.5.
 * @returns undefined when it does not say
 */
export function maxStreamsOf(settings: Buffer): number | undefined {
  for (let at = 0; at + 6 <= settings.length; at += 6)
    if (settings.readUInt16BE(at) === MAX_CONCURRENT_STREAMS) return settings.readUInt32BE(at + 2);
  return undefined;
}

/** Returns why the sender of this GOAWAY goes. Source: RFC 9113, section 6.8. */
export function describeGoAway(payload: Buffer): string {
  return `GOAWAY ${payload.readUInt32BE(4)} ${payload.subarray(8).toString()}`.trim();
}
