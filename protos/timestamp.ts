import { formatNanos } from './duration.ts';

const TIMESTAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Seconds since 1970 (negative before), and nanoseconds that count forward from there. */
export type Timestamp = { readonly seconds: number; readonly nanos: number };

/**
 * Parses proto3 JSON's form of google.protobuf.Timestamp (RFC 3339, years 0001 to 9999).
 * @returns undefined when it is none
 */
export function parseTimestamp(json: unknown): Timestamp | undefined {
  const match = typeof json === 'string' ? TIMESTAMP.exec(json) : null;
  if (match === null) return undefined;
  const [, wallClock = '', fraction = '', offset] = match;
  const local = Date.parse(`${wallClock}Z`);
  const rolledOver = Number.isNaN(local) || !new Date(local).toISOString().startsWith(wallClock);
  const seconds = Date.parse(`${wallClock}${offset}`) / 1000;
  if (rolledOver || Number.isNaN(seconds) || wallClock.startsWith('0000')) return undefined;
  return { seconds, nanos: Number(fraction.padEnd(9, '0')) };
}

/** The inverse of parseTimestamp, in UTC. The fraction has 0, 3, 6 or 9 digits. */
export function formatTimestamp({ seconds, nanos }: Timestamp): string {
  return new Date(seconds * 1000).toISOString().replace(/\.000Z$/, `${formatNanos(nanos)}Z`);
}
