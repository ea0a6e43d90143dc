import { rawByte, runesOf, toBytes } from './go-string.ts';
import { isPrintable } from './quote.ts';

const HTML: ReadonlyMap<string, string> = new Map([
  ['\0', '\ufffd'],
  ['"', '&#34;'],
  ["'", '&#39;'],
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]);
const JS: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['"', '\\"'],
  ['<', '\\u003C'],
  ['>', '\\u003E'],
  ['&', '\\u0026'],
  ['=', '\\u003D'],
]);

/** Escapes as Go's HTMLEscapeString. */
export function escapeHtml(text: string): string {
  return text.replace(/[\0"'&<>]/g, char => HTML.get(char) ?? char);
}

/** Escapes as Go's JSEscapeString. */
export function escapeJs(text: string): string {
  let escaped = '';
  for (const rune of runesOf(text)) escaped += JS.get(rune) ?? escapeJsRune(rune);
  return escaped;
}

function escapeJsRune(rune: string): string {
  if (rawByte(rune) !== undefined) return rune;
  const code = rune.codePointAt(0) ?? 0;
  if (code === 0x7f || (code >= 0x20 && isPrintable(rune))) return rune;
  return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Escapes as Go's url.QueryEscape. */
export function escapeQuery(text: string): string {
  let escaped = '';
  for (const byte of toBytes(text)) {
    const char = String.fromCharCode(byte);
    if (char === ' ') escaped += '+';
    else if (/[0-9A-Za-z\-_.~]/.test(char)) escaped += char;
    else escaped += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}
