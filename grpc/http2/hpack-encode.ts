import { STATIC_FIELDS } from './static-table.ts';

/** Begins a block that tells the peer to keep no table of fields. Source: RFC 7541, section 6.3. */
export const NO_TABLE: Uint8Array = Buffer.from([0x20]);

/**
 * Encodes a header list without a table of fields, so that the bytes are right on every connection.
 * `value` has a character for each byte. Source: RFC 7541.
 */
export function encodeFields(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(fields.map(([name, value]) => encodeField(name, value)));
}

function encodeField(name: string, value: string): Buffer {
  const whole = 1 + STATIC_FIELDS.findIndex(field => field[0] === name && field[1] === value);
  // Section 6.1.
  if (whole > 0) return encodeNumber(whole, 7, 0x80);
  const named = 1 + STATIC_FIELDS.findIndex(field => field[0] === name);
  // Section 6.2.2.
  const start = encodeNumber(named, 4, 0);
  return Buffer.concat([
    start,
    named === 0 ? encodeText(name) : Buffer.alloc(0),
    encodeText(value),
  ]);
}

/** Source: RFC 7541, section 5.2. */
function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([encodeNumber(bytes.length, 7, 0), bytes]);
}

/** Source: RFC 7541, section 5.1. */
function encodeNumber(value: number, bits: number, pattern: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.from([pattern | value]);
  const bytes = [pattern | most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
