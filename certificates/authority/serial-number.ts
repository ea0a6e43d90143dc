import { randomBytes } from 'node:crypto';

/**
 * 126 random bits in 16 bytes, as hex: positive, never 0, always of one length. Source: RFC 5280,
 * 4.1.2.2; CA/Browser Forum, at least 64 bits of a good generator.
 */
export function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}
