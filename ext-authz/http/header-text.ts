import { isUtf8 } from 'node:buffer';

/**
 * A header's value as text: UTF-8 where it is, else one character a byte (RFC 9110 section 5.5,
 * obs-text). `Cookie` is always one character a byte, so that what is left of it can go upstream
 * byte for byte.
 */
export function headerText(name: string, value: Buffer): string {
  return value.toString(name !== 'cookie' && isUtf8(value) ? 'utf8' : 'latin1');
}

/** The text that has these bytes in UTF-8, one character a byte; they must be UTF-8. */
export function cookieText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/**
 * The same text, which does not hold on to the longer one that it was cut out of: for what is kept.
 */
export function ownText(text: string): string {
  return Buffer.from(text).toString();
}
