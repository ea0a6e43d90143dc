/**
 * Go's strings are bytes, and those of JavaScript are UTF-16. A byte outside valid UTF-8 (a
 * template can make one: `slice "é" 0 1`) is kept as a lone surrogate. U+DC80 stands for 0x80, and
 * so on to U+DCFF for 0xff. So no step between loses it.
 */
const RAW = 0xdc00;
const ASCII = /^\p{ASCII}*$/u;
const REPLACEMENT = [0xef, 0xbf, 0xbd];

/** Returns the length in bytes. */
export function byteLength(text: string): number {
  if (text.isWellFormed()) return Buffer.byteLength(text);
  let length = 0;
  for (const rune of text) length += rawByte(rune) === undefined ? Buffer.byteLength(rune) : 1;
  return length;
}

/** Returns the byte that a lone surrogate stands for. */
export function rawByte(rune: string): number | undefined {
  const code = rune.charCodeAt(0);
  return rune.length === 1 && code >= RAW + 0x80 && code <= RAW + 0xff ? code - RAW : undefined;
}

/**
 * Returns the characters, as Go's range over a string has them. An invalid byte is its lone
 * surrogate.
 */
export function runesOf(text: string): string[] {
  return [...text];
}

/** Returns the number of characters, as Go counts them. */
export function runeCount(text: string): number {
  if (ASCII.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Returns the bytes of a string. */
export function toBytes(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text);
  const bytes: number[] = [];
  for (const rune of text) {
    const raw = rawByte(rune);
    if (raw === undefined) bytes.push(...Buffer.from(rune));
    else bytes.push(raw);
  }
  return Uint8Array.from(bytes);
}

/** Returns the string that has these bytes. */
export function fromBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString();
  if (!text.includes('\ufffd')) return text;
  let kept = '';
  for (let at = 0; at < bytes.length; ) {
    const length = runeLength(bytes, at);
    if (length === 0) kept += String.fromCharCode(RAW + (bytes[at] ?? 0));
    else kept += Buffer.from(bytes.subarray(at, at + length)).toString();
    at += Math.max(length, 1);
  }
  return kept;
}

/** Completes a string put together from others. Bytes that now make a character become it. */
export function joinBytes(text: string): string {
  return text.isWellFormed() ? text : fromBytes(toBytes(text));
}

/** Returns whether a string comes before (-1) or after (1) another, byte by byte. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  if (ASCII.test(a) && ASCII.test(b)) return a < b ? -1 : 1;
  return Buffer.compare(toBytes(a), toBytes(b));
}

/** Returns how many bytes the character at `at` has, or 0 where no valid one begins. */
function runeLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length =
    first < 0x80
      ? 1
      : first < 0xc2
        ? 0
        : first < 0xe0
          ? 2
          : first < 0xf0
            ? 3
            : first < 0xf5
              ? 4
              : 0;
  if (length < 2) return length;
  const part = bytes.subarray(at, at + length);
  const text = Buffer.from(part).toString();
  const isReplacement = REPLACEMENT.every((byte, index) => part[index] === byte);
  return part.length === length && (isReplacement || !text.includes('\ufffd')) ? length : 0;
}
