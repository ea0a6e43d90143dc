import { type FloatVerb, formatFloat } from './format-float.ts';
import { runesOf, toBytes } from './go-string.ts';
import type { GoComplex } from './go-type.ts';
import { fill, type Printer, pad, write } from './printer.ts';
import { canBackquote, isPrintable, quote, quoteRune } from './quote.ts';

const BASES: Readonly<Record<string, number>> = { b: 2, d: 10, o: 8, O: 8, v: 10, x: 16, X: 16 };
const FLOAT_VERBS = 'vbgGxXfFeE';
const LARGEST_RUNE = 0x10ffff;

/**
 * Each of these prints a value with a verb, and returns false when the verb does not fit. See
 * pkg.go.dev/fmt, "Printing".
 */
export function printBool(printer: Printer, value: boolean, verb: string): boolean {
  if (verb !== 't' && verb !== 'v') return false;
  pad(printer, String(value));
  return true;
}

export function printString(printer: Printer, value: string, verb: string): boolean {
  switch (verb) {
    case 'v':
      pad(printer, printer.sharpV ? quoted(printer, value) : truncated(printer, value));
      return true;
    case 's':
      pad(printer, truncated(printer, value));
      return true;
    case 'q':
      pad(printer, quoted(printer, truncated(printer, value)));
      return true;
    case 'x':
    case 'X':
      printHex(printer, value, verb);
      return true;
  }
  return false;
}

function truncated({ precision }: Printer, value: string): string {
  if (precision === undefined || value.length <= precision) return value;
  // Characters have one or two UTF-16 units. What cannot be shown is not read, however long it is.
  return runesOf(value.slice(0, 2 * precision))
    .slice(0, precision)
    .join('');
}

function quoted(printer: Printer, value: string): string {
  const text = printer.sharpV ? truncated(printer, value) : value;
  return printer.sharp && canBackquote(text) ? `\`${text}\`` : quote(text, printer.plus);
}

function printHex(printer: Printer, value: string, verb: 'x' | 'X'): void {
  // Each UTF-16 unit has one byte at least. A character that the cut splits comes after those that
  // are shown.
  const bytes = toBytes(value.slice(0, (printer.precision ?? value.length) + 1));
  const pairs = Array.from(bytes.subarray(0, printer.precision), byte =>
    byte.toString(16).padStart(2, '0'),
  );
  const prefix = printer.sharp && pairs.length > 0 ? '0x' : '';
  const text = prefix + pairs.join(printer.space ? ` ${prefix}` : '');
  if (pairs.length === 0)
    write(printer, fill(printer, printer.width ?? 0, printer.zero && !printer.minus));
  else pad(printer, verb === 'x' ? text : text.toUpperCase());
}

export function printInt(
  printer: Printer,
  value: number | bigint,
  verb: string,
  isSigned: boolean,
): boolean {
  if (verb === 'v' && printer.sharpV && !isSigned) {
    printDigits(printer, value, 'x', true);
    return true;
  }
  if (Object.hasOwn(BASES, verb)) printDigits(printer, value, verb, printer.sharp);
  else if (verb === 'c') pad(printer, runeOf(value));
  else if (verb === 'q') pad(printer, quoteRune(runeOf(value), printer.plus));
  else if (verb === 'U') printUnicode(printer, value);
  else return false;
  return true;
}

/** Returns the character of a code, or the replacement character when there is none. */
function runeOf(value: number | bigint): string {
  const code = Number(value);
  const isRune = code >= 0 && code <= LARGEST_RUNE && (code < 0xd800 || code > 0xdfff);
  return String.fromCodePoint(isRune ? code : 0xfffd);
}

function printDigits(printer: Printer, value: number | bigint, verb: string, sharp: boolean): void {
  const { precision, width } = printer;
  if (precision === 0 && Number(value) === 0) {
    write(printer, fill(printer, width ?? 0, false));
    return;
  }
  const isNegative = value < 0;
  const sign = isNegative ? '-' : printer.plus ? '+' : printer.space ? ' ' : '';
  const size = (isNegative ? -value : value).toString(BASES[verb] ?? 10);
  const zeros = printer.zero && !printer.minus ? (width ?? 0) - sign.length : 0;
  const digits = fill(printer, (precision ?? zeros) - size.length, true) + size;
  const text = sign + prefixOf(verb, sharp, digits) + digits;
  pad(printer, verb === 'X' ? text.toUpperCase() : text, false);
}

function prefixOf(verb: string, sharp: boolean, digits: string): string {
  const octal = sharp && !digits.startsWith('0') ? '0' : '';
  if (verb === 'O') return `0o${octal}`;
  if (!sharp) return '';
  if (verb === 'o') return octal;
  if (verb === 'b') return '0b';
  return verb === 'x' || verb === 'X' ? '0x' : '';
}

/** Prints `U+0078`, with the character itself when sharp. */
function printUnicode(printer: Printer, value: number | bigint): void {
  const code = BigInt.asUintN(64, BigInt(value));
  const hex = code.toString(16).toUpperCase();
  const zeros = fill(printer, Math.max(printer.precision ?? 0, 4) - hex.length, true);
  const rune = runeOf(code);
  const isShown =
    printer.sharp &&
    code <= LARGEST_RUNE &&
    (code < 0xd800n || code > 0xdfffn) &&
    isPrintable(rune);
  pad(printer, `U+${zeros}${hex}${isShown ? ` '${rune}'` : ''}`, false);
}

export function printFloat(printer: Printer, value: number, verb: string): boolean {
  if (!FLOAT_VERBS.includes(verb)) return false;
  const letter = (verb === 'v' ? 'g' : verb === 'F' ? 'f' : verb) as FloatVerb;
  const precision = printer.precision ?? ('fFeE'.includes(verb) ? 6 : -1);
  padFloat(printer, signedFloat(printer, value, letter, precision));
  return true;
}

export function printComplex(printer: Printer, value: GoComplex, verb: string): boolean {
  if (!FLOAT_VERBS.includes(verb)) return false;
  const { plus } = printer;
  write(printer, '(');
  printFloat(printer, value.real, verb);
  printer.plus = true;
  printFloat(printer, value.imaginary, verb);
  printer.plus = plus;
  write(printer, 'i)');
  return true;
}

/** Returns a float with its sign before it, also a plus. */
function signedFloat(printer: Printer, value: number, verb: FloatVerb, precision: number): string {
  const text = formatFloat(value, verb, precision);
  const sign = text.startsWith('-') ? '-' : printer.space && !printer.plus ? ' ' : '+';
  const size = /^[-+]/.test(text) ? text.slice(1) : text;
  if (/^[IN]/.test(size)) return sign + size;
  const full = withZeros(printer, size, verb, precision);
  return sign + (printer.sharp && verb !== 'b' ? withPoint(printer, full, verb, precision) : full);
}

/** Adds the zeros that the formatter cuts at a very large precision. */
function withZeros(printer: Printer, size: string, verb: FloatVerb, precision: number): string {
  if (precision <= 1000 || verb === 'g' || verb === 'G' || verb === 'b') return size;
  const [, number = '', tail = ''] = splitExponent(size, verb);
  const missing = precision - (number.length - number.indexOf('.') - 1);
  return number + fill(printer, missing, true) + tail;
}

/** Applies the sharp flag. There is always a point, and %g keeps the zeros at its end. */
function withPoint(printer: Printer, size: string, verb: FloatVerb, precision: number): string {
  const [, number = '', tail = ''] = splitExponent(size, verb);
  const wanted = verb === 'g' || verb === 'G' || verb === 'x' ? (precision < 0 ? 6 : precision) : 0;
  const counted = number.replace('.', '').replace(/^0+/, '').length + (number === '0' ? 1 : 0);
  const point = number.includes('.') ? '' : '.';
  return number + point + fill(printer, wanted - counted, true) + tail;
}

/** Splits a float before its exponent. */
function splitExponent(size: string, verb: FloatVerb): readonly string[] {
  const isHex = verb === 'x' || verb === 'X';
  return (isHex ? /^([^pP]*)(.*)$/ : /^([^eE]*)(.*)$/).exec(size) ?? [];
}

/**
 * Writes a float that has its sign before it. A plus is shown if asked for, and always before Inf.
 */
function padFloat(printer: Printer, text: string): void {
  const kind = text.charAt(1);
  const hidesSign = text.startsWith('+') && !printer.plus;
  const missing = (printer.width ?? 0) - text.length;
  if (kind === 'I') pad(printer, text, false);
  else if (kind === 'N') pad(printer, hidesSign ? text.slice(1) : text, false);
  else if (hidesSign) pad(printer, text.slice(1));
  else if (printer.zero && !printer.minus && missing > 0)
    write(printer, text.charAt(0) + fill(printer, missing, true) + text.slice(1));
  else pad(printer, text);
}
