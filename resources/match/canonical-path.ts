/**
 * What stands in a path unescaped (RFC 3986 section 3.3), and `[` and `]`, which Envoy leaves. `*`
 * is not among them, because it has a meaning in globs.
 */
const PLAIN = "!$&'()+,\\-.0-9:;=@A-Z[\\]_a-z~";
const UNESCAPED = new RegExp(`[${PLAIN}]`);
// Without the flag `i`, which would count `ſ` and the Kelvin sign as letters of ASCII.
const ODD = new RegExp(`%[0-9A-Fa-f]{2}|[^/${PLAIN}]`, 'gu');

/**
 * The characters of paths that every upstream reads in one way, as a class of an expression. Not
 * among them are `;`, `%`, `\\` and what stands in no path.
 */
export const ONE_READING = "[!$&'()+,\\-./0-9:=@A-Z[\\]_a-z~]";

/**
 * Returns one spelling for all spellings of a path (RFC 3986 section 6.2.2). What may stand
 * unescaped does. All else is escaped with capital digits. `%21` becomes `!` too, since upstreams
 * decode before they look. Escaped slashes stay escaped.
 */
export function canonicalPath(path: string): string {
  return path.replace(ODD, text => (text.length === 3 ? unescaped(text) : escaped(text)));
}

/** Returns the same for a glob. */
export function canonicalGlob(glob: string): string {
  return glob.split('*').map(canonicalPath).join('*');
}

/** What stands for each byte. Clients may send 60 KiB of characters that are looked up. */
const BYTES = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return UNESCAPED.test(character) ? character : percent(byte);
});

function unescaped(triplet: string): string {
  return BYTES[Number.parseInt(triplet.slice(1), 16)] ?? triplet;
}

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x80) return BYTES[code] ?? character;
  return [...new TextEncoder().encode(character)].map(percent).join('');
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
