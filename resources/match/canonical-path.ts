/**
 * What stands in a path unescaped (RFC 3986 section 3.3), and `[` and `]`, which Envoy leaves. Not
 * `*`, which globs give a meaning.
 */
const PLAIN = "!$&'()+,\\-.0-9:;=@A-Z[\\]_a-z~";
const UNESCAPED = new RegExp(`[${PLAIN}]`);
// Without regard to letter case `ſ` and the Kelvin sign would count as letters of ASCII.
const ODD = new RegExp(`%[0-9A-Fa-f]{2}|[^/${PLAIN}]`, 'gu');

/**
 * One spelling for all spellings of a path (RFC 3986 section 6.2.2): what may stand unescaped does,
 * and all else is escaped with capital digits. Also `%21` is `!`, since upstreams decode before
 * they look. Escaped slashes stay escaped.
 */
export function canonicalPath(path: string): string {
  return path.replace(ODD, text => (text.length === 3 ? unescaped(text) : escaped(text)));
}

/** The same for a glob. */
export function canonicalGlob(glob: string): string {
  return glob.split('*').map(canonicalPath).join('*');
}

function unescaped(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return UNESCAPED.test(character) ? character : triplet.toUpperCase();
}

function escaped(character: string): string {
  return [...new TextEncoder().encode(character)].map(percent).join('');
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
