const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Returns eight hexadecimal digits that distinguish texts: FNV-1a, 32 bits. For names only, not for
 * secrets.
 */
export function contentHash(text: string): string {
  let hash = OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, PRIME);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
