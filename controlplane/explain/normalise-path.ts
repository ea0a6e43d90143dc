/**
 * Rewrites a path as Envoy's listener does before anything reads it (`normalize_path`, then
 * `merge_slashes`). It takes a path without query, in visible ASCII, that begins with `/`. Source:
 * measured on Envoy 1.40, and RFC 3986, section 6.2.2.
 * - Dot segments are resolved, also `..;x`.
 * - `\` becomes `/`.
 * - Escaped letters, digits and `-._~` are unescaped.
 * - Other odd characters are escaped.
 * - Repeated slashes are merged.
 * @returns undefined when Envoy answers 400 (`%00`)
 */
export function normalisePath(path: string): string | undefined {
  const plain = path.replace(DOTS_WITH_PARAMETERS, '/$1');
  if (plain.includes('%00')) return undefined;
  const segments = resolveDots(plain.slice(1).split(/[/\\]/)).map(normaliseEscapes);
  return mergeSlashes(`/${segments.join('/')}`);
}

/**
 * Envoy drops what follows dots in a segment. It looks for that before it reads `\` or escaped
 * dots.
 */
const DOTS_WITH_PARAMETERS = /\/(\.\.?);[^/]*/g;

function resolveDots(segments: readonly string[]): readonly string[] {
  const resolved: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const dots = dotsOf(segment);
    if (dots === 2) resolved.pop();
    if (dots === 0) resolved.push(segment);
    else if (index === segments.length - 1) resolved.push('');
  }
  return resolved;
}

/** Returns 1 for this folder, 2 for the one above, 0 for a name. */
function dotsOf(segment: string): 0 | 1 | 2 {
  if (/^(?:\.|%2e)$/i.test(segment)) return 1;
  return /^(?:\.|%2e){2}$/i.test(segment) ? 2 : 0;
}

const ESCAPED = /[^!$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/;
const UNESCAPED = /[-.0-9A-Z_a-z~]/;

function normaliseEscapes(segment: string): string {
  let out = '';
  let broken: number | undefined;
  for (let at = 0; at < segment.length; at += 1) {
    const char = segment.charAt(at);
    const escaped = /^%[0-9a-f]{2}/i.exec(segment.slice(at, at + 3))?.[0];
    if (escaped !== undefined) {
      at += 2;
      const plain = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
      if (!UNESCAPED.test(plain)) out += escaped;
      else out = withoutNewEscape(out + plain, broken, segment.charAt(at + 1));
    } else if (char === '%') {
      broken = out.length;
      out += char;
    } else out += ESCAPED.test(char) ? percentEncode(char) : char;
  }
  return out;
}

/**
 * A `%` that was no escape must not become one because of an unescaped character behind it. It is
 * escaped itself.
 */
function withoutNewEscape(out: string, broken: number | undefined, next: string): string {
  if (broken === undefined || out.length > broken + 3) return out;
  const behind = out.slice(broken + 1);
  const digits = (behind + next).slice(0, 2);
  const becomesEscape = /^[0-9a-f]{2}$/i.test(digits);
  return becomesEscape ? `${out.slice(0, broken + 1)}25${behind}` : out;
}

function percentEncode(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function mergeSlashes(path: string): string {
  if (!path.includes('//')) return path;
  const inner = path
    .split('/')
    .filter(segment => segment !== '')
    .join('/');
  return `/${inner}${path.endsWith('/') ? '/' : ''}`;
}
