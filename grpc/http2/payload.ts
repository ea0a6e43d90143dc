import { ERROR, failConnection } from './error-code.ts';
import { FLAG } from './frame.ts';

/**
 * Priorities are deprecated, but a frame may still have their bytes. Source: RFC 9113, section 6.2.
 */
const PRIORITY_BYTES = 5;

/**
 * Returns where the content of a DATA frame begins, behind the length of its padding. Source: RFC
 * 9113, sections 4.2 and 6.1.
 */
export function contentStart(flags: number, start: number, end: number): number {
  const from = (flags & FLAG.padded) === 0 ? start : start + 1;
  if (from > end) failConnection(ERROR.frameSizeError, 'a frame without the length of its padding');
  return from;
}

/** Returns where the fields of a HEADERS frame begin. Source: RFC 9113, sections 4.2 and 6.2. */
export function fieldsStart(flags: number, start: number, end: number): number {
  const from =
    contentStart(flags, start, end) + ((flags & FLAG.priority) === 0 ? 0 : PRIORITY_BYTES);
  if (from > end) failConnection(ERROR.frameSizeError, 'HEADERS that are shorter than they say');
  return from;
}

/** Returns where the content that begins at `from` ends, before the padding. */
export function contentEnd(
  flags: number,
  bytes: Buffer,
  start: number,
  from: number,
  end: number,
): number {
  const to = (flags & FLAG.padded) === 0 ? end : end - (bytes[start] ?? 0);
  if (to < from) failConnection(ERROR.protocolError, 'padding that is longer than its frame');
  return to;
}

export function checkLength(what: string, length: number, right: number): void {
  if (length !== right)
    failConnection(ERROR.frameSizeError, `${what} of ${length} bytes, not of ${right}`);
}

export function checkOnStream(id: number): void {
  if (id === 0) failConnection(ERROR.protocolError, 'a frame of no stream that must be of one');
}

export function checkOnConnection(id: number): void {
  if (id !== 0) failConnection(ERROR.protocolError, 'a frame of a stream that must be of none');
}
