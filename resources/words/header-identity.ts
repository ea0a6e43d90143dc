/**
 * Returns the same text for names that some upstream takes for one header. They may differ in
 * letter case, and have `_` for `-` (CGI, RFC 3875 section 4.1.18).
 */
export function headerIdentity(name: string): string {
  const lower = name.toLowerCase();
  return lower.includes('_') ? lower.replaceAll('_', '-') : lower;
}
