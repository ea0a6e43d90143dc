const DURATION = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;
const SECONDS_MAX = 315_576_000_000;

/** Both parts have the same sign. `nanos` is below 10^9. */
export type Duration = { readonly seconds: number; readonly nanos: number };

/**
 * Parses proto3 JSON's form of google.protobuf.Duration, such as "1.5s".
 * @returns undefined when it is none, or beyond ±10,000 years
 */
export function parseDuration(json: unknown): Duration | undefined {
  const match = typeof json === 'string' ? DURATION.exec(json) : null;
  if (match === null) return undefined;
  const [, minus, whole, fraction = ''] = match;
  const seconds = Number(whole);
  const nanos = Number(fraction.padEnd(9, '0'));
  if (seconds > SECONDS_MAX || (seconds === SECONDS_MAX && nanos > 0)) return undefined;
  return minus === '-' ? { seconds: 0 - seconds, nanos: 0 - nanos } : { seconds, nanos };
}

/** The inverse of parseDuration. The fraction has 0, 3, 6 or 9 digits. */
export function formatDuration({ seconds, nanos }: Duration): string {
  const minus = seconds < 0 || nanos < 0 ? '-' : '';
  return `${minus}${Math.abs(seconds)}${formatNanos(Math.abs(nanos))}s`;
}

/**
 * Formats half a second as ".500", and 0 as nothing. Source: proto3 JSON mapping, Duration and
 * Timestamp.
 */
export function formatNanos(nanos: number): string {
  if (nanos === 0) return '';
  const digits = String(nanos)
    .padStart(9, '0')
    .replace(/(?:000){1,2}$/, '');
  return `.${digits}`;
}
