import { isUtf8 } from 'node:buffer';

/**
 * Returns a header's value as text. It is read as UTF-8 where it is valid, else as one character a
 * byte (RFC 9110 section 5.5, obs-text). `Cookie` is always one character a byte, so that what is
 * left of it can go upstream byte for byte.
 */
export function headerText(name: string, value: Buffer): string {
  return value.toString(name !== 'cookie' && isUtf8(value) ? 'utf8' : 'latin1');
}

/** Decodes UTF-8 bytes that are given as one character a byte. They must be valid. */
export function cookieText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/**
 * Copies a text that is kept, so that it does not hold on to the longer one that it was cut out of.
 */
export function detachedText(text: string): string {
  return Buffer.from(text).toString();
}

/**
 * Cuts what is no part of a value at its ends: spaces and tabs (RFC 9110 section 5.5). `trim` cuts
 * more, such as U+00A0, and makes one text of two. A regular expression would take long for a text
 * of blanks.
 */
export function withoutBlanks(text: string): string {
  let [begin, end] = [0, text.length];
  while (begin < end && isBlank(text[begin])) begin += 1;
  while (end > begin && isBlank(text[end - 1])) end -= 1;
  return text.slice(begin, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
