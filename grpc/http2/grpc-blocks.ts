import { FLAG, FRAME, frame, HEAD_BYTES } from './frame.ts';
import { encodeFields } from './hpack-encode.ts';

/** Flag and length. Source: gRPC over HTTP2, "Length-Prefixed-Message". */
export const PREFIX_BYTES = 5;

/** The headers of each answer. Source: gRPC over HTTP2, "Responses". */
export const RESPONSE_FIELDS = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
] as const;

const NO_STREAM = 0;

/** The frames around each message of an answer. Their streams are still to be set. */
export const HEADERS_FRAME: Buffer = frame(
  FRAME.headers,
  FLAG.endHeaders,
  NO_STREAM,
  encodeFields(RESPONSE_FIELDS),
);
export const OK_FRAME: Buffer = frame(
  FRAME.headers,
  FLAG.endHeaders | FLAG.endStream,
  NO_STREAM,
  encodeFields([['grpc-status', '0']]),
);
/** Where a frame has its flags and its stream. Source: RFC 9113, section 4.1. */
export const FLAGS_AT = 4;
export const STREAM_AT: number = HEAD_BYTES - 4;

/** Frames a message as it goes on the wire, uncompressed. */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX_BYTES);
  return bytes;
}
