import * as z from 'zod';
import type { Parsed } from './parsed-string.ts';

const FORM = 'a duration such as `1h30m`, `45s` or `300ms`';
const LONGEST = 100;
const LARGEST = 2n ** 63n;

const NANOSECONDS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

/**
 * Parses a duration as Go writes it: `1h30m`, `-1.5h`, `300ms`, `1µs`, `0`. Returns milliseconds,
 * with a fraction for parts of one. Rounding and range are those of Go's time.ParseDuration. The
 * range is 64 bits of nanoseconds, about 292 years.
 */
export function parseDuration(text: string): Parsed<number> {
  if (text.length > LONGEST)
    return fail(text.slice(0, LONGEST), `it has more than ${LONGEST} characters`);
  const terms = text.replace(/^[+-]/, '');
  if (terms === '0') return { value: 0 };
  const total = sumOf(text, terms);
  if ('error' in total) return total;
  const signed = text.startsWith('-') ? -total.value : total.value;
  return signed === LARGEST ? tooLong(text) : { value: toMilliseconds(signed) };
}

function sumOf(text: string, terms: string): Parsed<bigint> {
  let sum = 0n;
  let read = 0;
  for (const [term, whole = '', point = '', unit = ''] of terms.matchAll(
    /(\d*)(\.\d*)?([^\d.]*)/gy,
  )) {
    if (term === '') break;
    if (whole === '' && point.length < 2) return fail(text, `a number is missing before "${unit}"`);
    if (unit === '') return fail(text, 'a unit is missing: ns, us, ms, s, m or h');
    const nanoseconds = NANOSECONDS.get(unit);
    if (nanoseconds === undefined)
      return fail(text, `unknown unit "${unit}". There are ns, us, ms, s, m and h`);
    sum += BigInt(whole) * nanoseconds + fractionOf(point.slice(1), nanoseconds);
    if (sum > LARGEST) return tooLong(text);
    read += term.length;
  }
  if (read === 0) return fail(text, 'it is empty');
  return read === terms.length
    ? { value: sum }
    : fail(text, `"${terms.slice(read)}" does not belong there`);
}

/**
 * Returns the digits behind the point, in nanoseconds. It uses floating point, and ignores digits
 * beyond 63 bits, as Go does.
 */
function fractionOf(digits: string, nanoseconds: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (value > (LARGEST - 1n) / 10n || next > LARGEST) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(nanoseconds) / scale)));
}

function toMilliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6;
}

function tooLong(text: string): Parsed<never> {
  return fail(text, 'it is longer than 292 years');
}

function fail(text: string, reason: string): Parsed<never> {
  return { error: `Cannot parse duration ${JSON.stringify(text)}: ${reason}` };
}

/** A duration of any sign (docs/reference/kinds/filter.md), in milliseconds. */
export const duration = durationFrom(Number.NEGATIVE_INFINITY, '');

/** A duration above 0, in milliseconds. */
export const positiveDuration = durationFrom(Number.MIN_VALUE, 'it must be longer than 0');

/** The number 0 is a duration too, since YAML reads an unquoted `0` as one. */
function durationFrom(least: number, reason: string) {
  return z
    .union([z.string(), z.literal(0)])
    .meta({ form: FORM })
    .transform((written, context): number => {
      const text = String(written);
      const parsed = parseDuration(text);
      const checked = 'value' in parsed && parsed.value < least ? fail(text, reason) : parsed;
      if ('value' in checked) return checked.value;
      context.addIssue({ code: 'custom', message: checked.error });
      return z.NEVER;
    });
}
