import type { GoInt, GoValue } from './go-type.ts';
import { type GoMethod, type GoType, INT64 } from './go-type.ts';
import { goInt, isInt } from './go-value.ts';

const SECOND = 1_000_000_000;
const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);

/**
 * Go's time.Duration, an int64 of nanoseconds that prints as `1m30s`. See pkg.go.dev/time#Duration.
 */
export const DURATION: GoType = {
  kind: 'int64',
  name: 'time.Duration',
  text: value => formatDuration(toBig(value)),
  get methods() {
    return METHODS;
  },
};

/** Returns a time.Duration of this many nanoseconds, which must be whole and fit 64 bits. */
export function duration(nanoseconds: number | bigint): GoInt {
  return goInt(nanoseconds, DURATION);
}

const METHODS: ReadonlyMap<string, GoMethod> = new Map<string, GoMethod>([
  ['Abs', { params: [], call: value => duration(clamp(abs(toBig(value)))) }],
  ['Hours', { params: [], call: value => inUnits(value, 3600) }],
  ['Microseconds', { params: [], call: value => goInt(toBig(value) / 1000n, INT64) }],
  ['Milliseconds', { params: [], call: value => goInt(toBig(value) / 1_000_000n, INT64) }],
  ['Minutes', { params: [], call: value => inUnits(value, 60) }],
  ['Nanoseconds', { params: [], call: value => goInt(toBig(value), INT64) }],
  [
    'Round',
    { params: [DURATION], call: (value, [to]) => duration(round(toBig(value), toBig(to))) },
  ],
  ['Seconds', { params: [], call: value => inUnits(value, 1) }],
  ['String', { params: [], call: value => formatDuration(toBig(value)) }],
  [
    'Truncate',
    { params: [DURATION], call: (value, [to]) => duration(truncate(toBig(value), toBig(to))) },
  ],
]);

/**
 * Returns a duration as float64 of units of this many seconds. Whole units and the rest are added
 * separately, as Go computes it.
 */
function inUnits(value: GoValue, seconds: number): number {
  const unit = seconds * SECOND;
  const nanoseconds = isInt(value) ? value.value : 0;
  if (typeof nanoseconds === 'bigint') {
    const rest = nanoseconds % BigInt(unit);
    return Number((nanoseconds - rest) / BigInt(unit)) + Number(rest) / unit;
  }
  const rest = nanoseconds % unit;
  return (nanoseconds - rest) / unit + rest / unit;
}

/** Rounds to the nearest multiple, halves away from zero, within 64 bits. */
function round(value: bigint, multiple: bigint): bigint {
  if (multiple <= 0n) return value;
  const rest = abs(value % multiple);
  const sign = value < 0n ? -1n : 1n;
  const down = value - sign * rest;
  return clamp(rest * 2n < multiple ? down : down + sign * multiple);
}

function truncate(value: bigint, multiple: bigint): bigint {
  return multiple <= 0n ? value : value - (value % multiple);
}

/** Returns Go's text of a duration: `1h0m5.5s`, `1.5ms`, `0s`. */
function formatDuration(value: bigint): string {
  if (value === 0n) return '0s';
  const sign = value < 0n ? '-' : '';
  const size = abs(value);
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${withFraction(size, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${withFraction(size, 6)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = withFraction(size % 60_000_000_000n, 9);
  if (minutes === 0n) return `${sign}${seconds}s`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}s`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}s`;
}

/** Returns an integer with its last `digits` behind the point, without zeros at the end. */
function withFraction(value: bigint, digits: number): string {
  const text = value.toString().padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  const whole = text.slice(0, -digits);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

function toBig(value: GoValue | undefined): bigint {
  return isInt(value) ? BigInt(value.value) : 0n;
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function clamp(value: bigint): bigint {
  if (value > LARGEST) return LARGEST;
  return value < SMALLEST ? SMALLEST : value;
}
