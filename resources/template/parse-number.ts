import type { GoValue } from './go-type.ts';
import { goComplex, goInt } from './go-value.ts';
import { quote } from './quote.ts';
import { unquoteChar } from './unquote.ts';

/**
 * A number in a template. It has its value by its syntax, which is undefined for an int beyond 63
 * bits. A whole number is also an integer, for a parameter that wants one.
 */
export type NumberLiteral = {
  readonly value: GoValue | undefined;
  readonly integer: bigint | undefined;
};

export type ParsedNumber = NumberLiteral | { readonly error: string };

const INTEGER = /^([+-]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)$/;
const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const HEX_FLOAT = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)$/;
const COMPLEX = /^([+-]?.*?[^eEpP])([+-].*)i$/;
const LARGEST_INT = 2n ** 63n - 1n;
const LARGEST_UINT = 2n ** 64n - 1n;

/** Parses a character constant as a number. */
export function parseCharConstant(text: string): ParsedNumber {
  const char = unquoteChar(text);
  if ('error' in char) return char;
  return { value: goInt(char.code), integer: BigInt(char.code) };
}

/** Parses a complex number `1+2i`. The messages are those of Go's fmt.Sscan. */
export function parseComplex(text: string): ParsedNumber {
  const [, real = '', imaginary = ''] = COMPLEX.exec(text) ?? [];
  const error = scanError(real) ?? scanError(imaginary);
  if (error !== undefined) return { error };
  return complexLiteral(parseFloat64(real) ?? 0, parseFloat64(imaginary) ?? 0);
}

function scanError(text: string): string | undefined {
  if (/i|^[+-]?0[bBoO]|^[+-]?$/.test(text)) return 'syntax error scanning complex number';
  if (parseFloat64(text) !== undefined) return undefined;
  const digits = withoutUnderscores(text);
  const isFloat = DECIMAL.test(digits) || parseHexFloat(digits) !== undefined;
  return `strconv.ParseFloat: parsing ${quote(text)}: ${isFloat ? 'value out of range' : 'invalid syntax'}`;
}

/** Parses a number that is no complex pair: any base, any underscores, a float, or imaginary. */
export function parseNumber(text: string): ParsedNumber {
  const imaginary = text.endsWith('i') ? parseFloat64(text.slice(0, -1)) : undefined;
  if (imaginary !== undefined) return complexLiteral(0, imaginary);
  const integer = parseInteger(text);
  if (integer !== undefined)
    return { value: integer > LARGEST_INT ? undefined : goInt(integer), integer: inRange(integer) };
  const float = parseFloat64(text);
  if (float === undefined) return { error: `illegal number syntax: ${quote(text)}` };
  if (!/[.eEpP]/.test(text)) return { error: `integer overflow: ${quote(text)}` };
  return { value: float, integer: wholeOf(float) };
}

function complexLiteral(real: number, imaginary: number): NumberLiteral {
  return {
    value: goComplex(real, imaginary),
    integer: imaginary === 0 ? wholeOf(real) : undefined,
  };
}

/** Parses an int64, or a uint64 when it has no sign. */
function parseInteger(text: string): bigint | undefined {
  const [, sign, digits] = INTEGER.exec(withoutUnderscores(text)) ?? [];
  if (digits === undefined) return undefined;
  const isOctal = /^0[0-7]+$/.test(digits);
  const size = BigInt(isOctal ? `0o${digits.slice(1)}` : digits);
  const value = sign === '-' ? -size : size;
  const largest = sign === '' ? LARGEST_UINT : LARGEST_INT;
  return value > largest || value < -LARGEST_INT - 1n ? undefined : value;
}

/**
 * Parses a float64.
 * @returns undefined when it is none or too large
 */
function parseFloat64(text: string): number | undefined {
  const digits = withoutUnderscores(text);
  const value = DECIMAL.test(digits) ? Number(digits) : parseHexFloat(digits);
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function parseHexFloat(text: string): number | undefined {
  const [, sign, whole = '', fraction = '', exponent = ''] = HEX_FLOAT.exec(text) ?? [];
  if (whole + fraction === '') return undefined;
  const mantissa = Number(BigInt(`0x${whole}${fraction}`));
  const power = Number(exponent) - 4 * fraction.length;
  const half = Math.trunc(power / 2);
  const size = mantissa === 0 ? 0 : mantissa * 2 ** half * 2 ** (power - half);
  return sign === '-' ? -size : size;
}

function wholeOf(value: number): bigint | undefined {
  return Number.isInteger(value) ? inRange(BigInt(value)) : undefined;
}

function inRange(value: bigint): bigint | undefined {
  return value >= -LARGEST_INT - 1n && value <= LARGEST_INT ? value : undefined;
}

/**
 * Removes underscores where each stands between digits or after the prefix of a base. Else the text
 * is unchanged.
 */
function withoutUnderscores(text: string): string {
  if (!text.includes('_')) return text;
  const isHex = /^[+-]?0[xX]/.test(text);
  const body = text.replace(/^[+-]?(0[xXbBoO])?/, (_, base) => (base === undefined ? '' : '0'));
  const misplaced = isHex ? /(?<![0-9a-fA-F])_|_(?![0-9a-fA-F])/ : /(?<![0-9])_|_(?![0-9])/;
  return misplaced.test(body) ? text : text.replaceAll('_', '');
}
