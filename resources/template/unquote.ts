import { joinBytes } from './go-string.ts';

const NAMED: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
};
const HEX_LENGTH: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
const RAW = 0xdc00;

type Unquoted = { readonly code: number; readonly isByte: boolean; readonly next: number };

/**
 * Returns the text of a Go string literal, raw or quoted. See Go's strconv.Unquote.
 * @returns undefined when it is no literal
 */
export function unquote(literal: string): string | undefined {
  const inner = literal.slice(1, -1);
  if (literal.startsWith('`')) return inner.replaceAll('\r', '');
  let text = '';
  for (let at = 0; at < inner.length; ) {
    const unquoted = unquoteAt(inner, at, '"');
    if (unquoted === undefined) return undefined;
    text += toText(unquoted);
    at = unquoted.next;
  }
  return joinBytes(text);
}

/** Returns the code of a Go character literal, or what is wrong with it in Go's words. */
export function unquoteChar(
  literal: string,
): { readonly code: number } | { readonly error: string } {
  const unquoted = literal[1] === "'" ? undefined : unquoteAt(literal, 1, "'");
  if (unquoted === undefined) return { error: 'invalid syntax' };
  if (literal.slice(unquoted.next) !== "'")
    return { error: `malformed character constant: ${literal}` };
  return { code: unquoted.code };
}

function toText({ code, isByte }: Unquoted): string {
  return isByte && code >= 0x80 ? String.fromCharCode(RAW + code) : String.fromCodePoint(code);
}

function unquoteAt(text: string, at: number, mark: string): Unquoted | undefined {
  const code = text.codePointAt(at) ?? 0;
  if (code !== 0x5c) return { code, isByte: false, next: at + (code > 0xffff ? 2 : 1) };
  const letter = text.charAt(at + 1);
  const named =
    letter === mark
      ? letter.charCodeAt(0)
      : Object.hasOwn(NAMED, letter)
        ? NAMED[letter]
        : undefined;
  if (named !== undefined) return { code: named, isByte: false, next: at + 2 };
  if (Object.hasOwn(HEX_LENGTH, letter)) return unquoteHex(text, at + 2, HEX_LENGTH[letter] ?? 0);
  const octal = /^[0-7]{3}/.exec(text.slice(at + 1, at + 4))?.[0];
  const byte = octal === undefined ? 256 : Number.parseInt(octal, 8);
  return byte > 255 ? undefined : { code: byte, isByte: true, next: at + 4 };
}

function unquoteHex(text: string, at: number, length: number): Unquoted | undefined {
  const digits = text.slice(at, at + length);
  if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) return undefined;
  const code = Number.parseInt(digits, 16);
  const isRune = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return length === 2 || isRune ? { code, isByte: length === 2, next: at + length } : undefined;
}
