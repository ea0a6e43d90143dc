import { ConnectionError, ERROR } from './error-code.ts';

/**
 * The number of bits of each symbol's code, as digits of base 36. The last is the end of the text.
 * The code is canonical, so the lengths determine it. Source: RFC 7541, appendix B.
 */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u';
const END = 256;
const NODES = 256;
const LEAF = 0x8000;

/**
 * Two entries for each node, for the bits 0 and 1. Each leads to another node, or to LEAF and a
 * symbol.
 */
const TREE: Uint16Array = buildTree(Array.from(LENGTHS, digit => Number.parseInt(digit, 36)));

/**
 * Builds the tree. A canonical code counts up, symbol by symbol within one length, from the
 * shortest length to the longest.
 */
function buildTree(lengths: readonly number[]): Uint16Array {
  const tree = new Uint16Array(2 * NODES);
  const symbols = lengths.map((length, symbol) => ({ length, symbol }));
  let nodes = 1;
  let code = 0;
  let before = 0;
  for (const { length, symbol } of symbols.sort(
    (a, b) => a.length - b.length || a.symbol - b.symbol,
  )) {
    code *= 2 ** (length - before);
    before = length;
    let node = 0;
    for (let bit = length - 1; bit > 0; bit--) {
      const branch = 2 * node + (Math.floor(code / 2 ** bit) % 2);
      if (tree[branch] === 0) tree[branch] = nodes++;
      node = tree[branch] ?? 0;
    }
    tree[2 * node + (code % 2)] = LEAF | symbol;
    code++;
  }
  return tree;
}

/**
 * Decodes a text, a character for each byte. Throws a ConnectionError for an unknown code and for
 * wrong padding. Source: RFC 7541, section 5.2.
 */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string {
  // The shortest code has 5 bits.
  const text = Buffer.allocUnsafe(Math.floor(((end - start) * 8) / 5));
  let length = 0;
  let node = 0;
  let bits = 0;
  let ones = true;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    for (let shift = 7; shift >= 0; shift--) {
      const bit = (byte >> shift) & 1;
      node = TREE[2 * node + bit] ?? 0;
      bits++;
      ones &&= bit === 1;
      if (node < LEAF) continue;
      if (node === (LEAF | END))
        throw new ConnectionError(ERROR.compressionError, 'a text with the end symbol in it');
      text[length++] = node;
      node = 0;
      bits = 0;
      ones = true;
    }
  }
  if (bits > 7 || !ones)
    throw new ConnectionError(ERROR.compressionError, 'a text with wrong padding');
  return text.toString('latin1', 0, length);
}
