/** The digits of a number and where its point stands: 0.d1d2… × 10^point. */
type Decimal = { readonly digits: string; readonly point: number };

export type FloatVerb = 'b' | 'e' | 'E' | 'f' | 'g' | 'G' | 'x' | 'X';

/** No float64 has more digits than these. All further ones are zeros. */
const MOST_DIGITS = 1100;

/**
 * Writes a float64 as Go's strconv.FormatFloat. `precision` -1 means as many digits as are needed.
 * Zeros beyond the digits of the number are cut at 1,100 digits, and the caller adds them.
 */
export function formatFloat(value: number, verb: FloatVerb, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return sign + formatSize(Math.abs(value), verb, Math.min(precision, MOST_DIGITS));
}

function formatSize(value: number, verb: FloatVerb, precision: number): string {
  switch (verb) {
    case 'b':
      return formatBinary(value);
    case 'x':
      return formatHex(value, precision);
    case 'X':
      return formatHex(value, precision).toUpperCase();
    case 'e':
    case 'E': {
      const decimal = precision < 0 ? shortest(value) : roundTo(exact(value), precision + 1);
      return exponential(
        decimal,
        precision < 0 ? Math.max(decimal.digits.length - 1, 0) : precision,
        verb,
      );
    }
    case 'f':
      return formatFixed(value, precision);
    default:
      return formatGeneral(value, verb === 'g' ? 'e' : 'E', precision);
  }
}

function formatFixed(value: number, precision: number): string {
  if (precision < 0) {
    const decimal = shortest(value);
    return fixed(decimal, Math.max(decimal.digits.length - decimal.point, 0));
  }
  // JavaScript rounds a half up, Go to even. A half needs the value to be a multiple of
  // 2^-(precision+1).
  const mayBeHalf = Number.isInteger(value * 2 ** (precision + 1)) && !Number.isInteger(value);
  if (!mayBeHalf && precision <= 100 && value < 1e21) return value.toFixed(precision);
  const decimal = exact(value);
  return fixed(roundTo(decimal, decimal.point + precision), precision);
}

/** Writes Go's %g. An exponent below -4 or not below the precision is written. */
function formatGeneral(value: number, letter: 'e' | 'E', precision: number): string {
  const isShortest = precision < 0;
  const wanted = precision === 0 ? 1 : precision;
  const decimal = isShortest ? shortest(value) : roundTo(exact(value), wanted);
  const count = decimal.digits.length;
  const limit = isShortest ? 6 : wanted > count && count >= decimal.point ? count : wanted;
  const exponent = decimal.point - 1;
  if (exponent < -4 || exponent >= limit)
    return exponential(decimal, Math.max(count - 1, 0), letter);
  return fixed(decimal, Math.max(count - decimal.point, 0));
}

/** Returns the fewest digits that tell the number from its neighbours. */
function shortest(value: number): Decimal {
  if (value === 0) return { digits: '', point: 0 };
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  return { digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

/** Returns all digits of the number. */
function exact(value: number): Decimal {
  if (value === 0) return { digits: '', point: 0 };
  const { mantissa, exponent } = parts(value);
  const scaled = exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent);
  const text = scaled.toString();
  return { digits: text.replace(/0+$/, ''), point: text.length + Math.min(exponent, 0) };
}

/** Rounds a number to this many digits, a half to even. */
function roundTo({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point };
  if (count < 0) return { digits: '', point: 0 };
  const kept = digits.slice(0, count);
  const dropped = digits.charAt(count);
  const isHalf = dropped === '5' && digits.length === count + 1;
  const isOdd = /[13579]$/.test(kept);
  if (isHalf ? !isOdd : dropped < '5') return trimmed(kept, point);
  const up = kept === '' ? '1' : (BigInt(kept) + 1n).toString();
  return trimmed(up, point + up.length - kept.length);
}

function trimmed(digits: string, point: number): Decimal {
  const kept = digits.replace(/0+$/, '');
  return kept === '' ? { digits: '', point: 0 } : { digits: kept, point };
}

function exponential({ digits, point }: Decimal, precision: number, letter: string): string {
  const padded = digits.padEnd(precision + 1, '0');
  const fraction = precision > 0 ? `.${padded.slice(1, precision + 1)}` : '';
  return padded.charAt(0) + fraction + letter + signed(digits === '' ? 0 : point - 1);
}

function fixed({ digits, point }: Decimal, precision: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (precision === 0) return whole;
  const fraction = point < 0 ? '0'.repeat(-point) + digits : digits.slice(Math.max(point, 0));
  return `${whole}.${fraction.slice(0, precision).padEnd(precision, '0')}`;
}

/** Returns an exponent with its sign and two digits at least. */
function signed(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/**
 * Returns the number as mantissa × 2^exponent. The mantissa has 53 bits unless the number is very
 * small.
 */
function parts(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const fraction = raw & (2n ** 52n - 1n);
  const biased = Number((raw >> 52n) & 0x7ffn);
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (2n ** 52n), exponent: biased - 1075 };
}

function formatBinary(value: number): string {
  const { mantissa, exponent } = parts(value);
  return `${mantissa}p${exponent < 0 ? '' : '+'}${exponent}`;
}

/** Writes Go's %x: a hexadecimal mantissa that begins with 1, and a power of two. */
function formatHex(value: number, precision: number): string {
  if (value === 0) return `0x0${precision > 0 ? `.${'0'.repeat(precision)}` : ''}p+00`;
  let { mantissa, exponent } = parts(value);
  const shift = 53 - mantissa.toString(2).length;
  mantissa <<= BigInt(shift);
  let power = exponent + 52 - shift;
  if (precision >= 0 && precision < 13) {
    mantissa = roundBits(mantissa, BigInt(52 - 4 * precision));
    if (mantissa >> 53n !== 0n) {
      mantissa >>= 1n;
      power++;
    }
  }
  const hex = (mantissa & (2n ** 52n - 1n)).toString(16).padStart(13, '0');
  const digits =
    precision < 0 ? hex.replace(/0+$/, '') : hex.padEnd(precision, '0').slice(0, precision);
  return `0x1${digits === '' ? '' : `.${digits}`}p${signed(power)}`;
}

/** Rounds the last `drop` bits of the mantissa away, a half to even. */
function roundBits(mantissa: bigint, drop: bigint): bigint {
  const unit = 1n << drop;
  const rest = mantissa & (unit - 1n);
  const down = mantissa - rest;
  const isUp = rest * 2n > unit || (rest * 2n === unit && (down & unit) !== 0n);
  return isUp ? down + unit : down;
}
