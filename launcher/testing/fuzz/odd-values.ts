import { pick } from '#protos/testing/random.ts';

/** Bytes for a field of any kind: empty, huge, no UTF-8, and others that programs fail on. */
export const ODD_VALUES: readonly Buffer[] = [
  Buffer.alloc(0),
  Buffer.from('*'),
  Buffer.from('__proto__'),
  Buffer.from('constructor'),
  Buffer.from('x'.repeat(5_000)),
  Buffer.from('ä'.repeat(700)),
  Buffer.from('\0'),
  Buffer.from('\r\n\r\n'),
  Buffer.from('%00%zz%c0%ae'),
  Buffer.from('-1'),
  Buffer.from('1e999'),
  Buffer.from('9007199254740993'),
  Buffer.from('type.googleapis.com/google.protobuf.Any'),
  // No UTF-8: an invalid byte, a lone surrogate, an overlong slash, a character that is cut off.
  Buffer.from('ff', 'hex'),
  Buffer.from('eda080', 'hex'),
  Buffer.from('c0af', 'hex'),
  Buffer.from('61f09f98', 'hex'),
  Buffer.from('0a000a000a00', 'hex'),
];

const HUGE_BYTES = 300_000;

/** Returns one of them, rarely a huge one. */
export function oddValue(random: () => number): Buffer {
  if (random() < 0.02) return Buffer.alloc(HUGE_BYTES, pick(['x', 'ÿ', '{', '['], random));
  return pick(ODD_VALUES, random);
}

/** Flips bits, cuts pieces out, or repeats them. */
export function damage(bytes: Buffer, random: () => number): Buffer {
  const result = Buffer.from(bytes);
  if (result.length === 0) return oddValue(random);
  const at = Math.floor(random() * result.length);
  const end = at + Math.floor(random() * Math.min(32, result.length - at));
  const ways = [
    () => result.fill((result[at] ?? 0) ^ (1 << Math.floor(random() * 8)), at, at + 1),
    () => Buffer.concat([result.subarray(0, at), result.subarray(end)]),
    () => Buffer.concat([result.subarray(0, end), result.subarray(at)]),
    () => result.subarray(0, at),
    () => Buffer.concat([result.subarray(0, at), oddValue(random), result.subarray(at)]),
  ];
  return pick(ways, random)();
}
