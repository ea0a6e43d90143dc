import { isUtf8 } from 'node:buffer';
import protobuf from 'protobufjs';
import { messageType } from './root.ts';
import { WireError } from './wire-reader.ts';

/**
 * A message as protobufjs decodes it, a plain object with snake_case fields and defaults on its
 * prototype.
 */
export type Message = { readonly [field: string]: unknown };

/**
 * Decodes a message that a peer sent. The library alone accepts a text that runs past its message,
 * and one that is no UTF-8. Both throw here. Source: protobuf.dev, Encoding and Language Guide
 * (proto3).
 */
export function decodeBytes(type: protobuf.Type, bytes: Uint8Array): object {
  return type.decode(new StrictReader(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes)));
}

class StrictReader extends protobuf.BufferReader {
  /** Set inside of a message whose texts may be cut at any byte. */
  isLenient = false;

  override string(): string {
    const length = this.uint32();
    const [start, end] = [this.pos, this.pos + length];
    if (end > this.len) throw new WireError('a text runs past its message');
    this.pos = end;
    const text = (this.buf as Buffer).toString('utf8', start, end);
    // Few texts have it, so few bytes are looked at twice.
    if (!this.isLenient && text.includes(REPLACEMENT) && !isUtf8(this.buf.subarray(start, end)))
      throw new WireError('a text is not UTF-8');
    return text;
  }
}

/** Stands for bytes that are no UTF-8, unless the peer sent it. */
const REPLACEMENT = '\uFFFD';

/**
 * Envoy cuts the message of a NACK at a byte, which may be within a character. The NACK must still
 * be read, or what the proxy rejects would count as in force.
 */
const STATUS = messageType('google.rpc.Status').setup();
const decodeStatus = STATUS.decode;

STATUS.decode = function decode(reader, ...rest: readonly unknown[]) {
  if (!(reader instanceof StrictReader))
    return Reflect.apply(decodeStatus, this, [reader, ...rest]);
  const { isLenient } = reader;
  reader.isLenient = true;
  const decoded = Reflect.apply(decodeStatus, this, [reader, ...rest]);
  reader.isLenient = isLenient;
  return decoded;
};
