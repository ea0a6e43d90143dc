import { ECHO } from './echo-server.ts';

/** Source: RFC 9113, section 6.5.2. */
export const SETTING = { initialWindowSize: 4 } as const;

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([0, id]), uint32(value)]);
}

/**
 * `:method: POST`, `:scheme: http`, `:path: /` and `:authority: x`, of HPACK's static table.
 * Source: RFC 7541, appendix A.
 */
export const REQUEST: Uint8Array = Buffer.from('838684010178', 'hex');

/** Encodes a field that no table keeps, without Huffman code. Source: RFC 7541, section 6.2.2. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** Encodes a field that the reader must keep in its table. Source: RFC 7541, section 6.2.1. */
export function keptField(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)]);
}

/** Encodes the headers of a call of the echo method, and more fields. */
export function callHeaders(...fields: readonly Uint8Array[]): Buffer {
  return requestHeaders(ECHO, ...fields);
}

export function requestHeaders(path: string, ...fields: readonly Uint8Array[]): Buffer {
  const start = [Buffer.from('8386', 'hex'), field(':path', path), field(':authority', 'x')];
  return Buffer.concat([...start, field('content-type', 'application/grpc'), ...fields]);
}

/** Source: RFC 7541, sections 5.1 and 5.2. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}
