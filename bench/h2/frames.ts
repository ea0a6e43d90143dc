import { FRAME, frame } from '#grpc/http2/frame.ts';

/** By so many bytes a connection's window can be widened at most at its start. */
export const WIDEST = 2 ** 31 - 1 - 65_535;

const MAX_CONCURRENT_STREAMS = 3;

export function widen(bytes: number): Buffer {
  const increment = Buffer.alloc(4);
  increment.writeUInt32BE(bytes);
  return frame(FRAME.windowUpdate, 0, 0, increment);
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
