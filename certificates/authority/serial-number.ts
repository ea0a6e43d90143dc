import { randomBytes } from 'node:crypto';

/**
 * Returns 126 random bits in 16 bytes, as hex. The number is positive, never 0, and always of one
 * length. See RFC 5280, 4.1.2.2. The CA/Browser Forum asks for 64 bits or more of a good generator.
 */
export function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}
