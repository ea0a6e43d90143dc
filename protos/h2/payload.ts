import { ERROR, failConnection } from './error-code.ts';
import { FLAG } from './frame.ts';

/** Priorities are gone, but their bytes may be there. Source: RFC 9113, section 6.2. */
const PRIORITY_BYTES = 5;

/** Where what a DATA or HEADERS frame carries begins, behind the length of its padding. Source: RFC 9113, section 6.1. */
export function contentStart(flags: number, start: number): number {
  return (flags & FLAG.padded) === 0 ? start : start + 1;
}

/** Where it ends, before the padding. */
export function contentEnd(flags: number, bytes: Buffer, start: number, end: number): number {
  if ((flags & FLAG.padded) === 0) return end;
  const padding = bytes[start] ?? 0;
  if (start === end || padding >= end - start)
    failConnection(ERROR.protocolError, 'padding that is longer than its frame');
  return end - padding;
}

/** Where the fields of a HEADERS frame begin, which end at `end`. */
export function fieldsStart(flags: number, start: number, end: number): number {
  const from = contentStart(flags, start) + ((flags & FLAG.priority) === 0 ? 0 : PRIORITY_BYTES);
  if (from > end) failConnection(ERROR.frameSizeError, 'HEADERS that are shorter than they say');
  return from;
}

export function checkLength(what: string, length: number, right: number): void {
  if (length !== right) failConnection(ERROR.frameSizeError, `${what} of ${length} bytes, not of ${right}`);
}

export function checkOnStream(id: number): void {
  if (id === 0) failConnection(ERROR.protocolError, 'a frame of no stream that must be of one');
}

export function checkOnConnection(id: number): void {
  if (id !== 0) failConnection(ERROR.protocolError, 'a frame of a stream that must be of none');
}
