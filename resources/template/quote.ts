import { rawByte, runesOf } from './go-string.ts';

const PRINTABLE = /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u;
const NAMED: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
]);

/** Whether Go's strconv.IsPrint calls a character printable. */
export function isPrintable(rune: string): boolean {
  if (rune.length === 1 && rune <= '~') return rune >= ' ';
  return PRINTABLE.test(rune);
}

/** Quotes a string in double quotes as Go's %q. `ascii` is %+q. */
export function quote(text: string, ascii = false): string {
  return enclose(text, '"', ascii);
}

/** Quotes a character in single quotes as Go's %q. */
export function quoteRune(rune: string, ascii = false): string {
  return enclose(rune, "'", ascii);
}

/** Whether Go's %#q writes the string between backquotes. */
export function canBackquote(text: string): boolean {
  return runesOf(text).every(
    rune =>
      rawByte(rune) === undefined &&
      (rune === '\t' || (rune >= ' ' && !'\x7f`\ufeff'.includes(rune))),
  );
}

function enclose(text: string, mark: string, ascii: boolean): string {
  let quoted = mark;
  for (const rune of runesOf(text)) quoted += rune === mark ? `\\${mark}` : escapeRune(rune, ascii);
  return quoted + mark;
}

function escapeRune(rune: string, ascii: boolean): string {
  const named = NAMED.get(rune);
  if (named !== undefined) return named;
  const byte = rawByte(rune);
  if (byte !== undefined) return `\\x${byte.toString(16)}`;
  const code = rune.codePointAt(0) ?? 0;
  if (isPrintable(rune) && (!ascii || code < 0x80)) return rune;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  const width = code < 0x10000 ? 4 : 8;
  return `\\${width === 4 ? 'u' : 'U'}${code.toString(16).padStart(width, '0')}`;
}
