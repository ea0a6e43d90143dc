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
/** A text is decoded four bits at a time. The shortest code has five, so they end one at most. */
const STEP_BITS = 4;
/** Padding is shorter than a byte. Source: RFC 7541, section 5.2. */
const MOST_PADDING = 7;

/**
 * Two entries for each node, for the bits 0 and 1. Each leads to another node, or to LEAF and a
 * symbol.
 */
const TREE: Uint16Array = buildTree(Array.from(LENGTHS, digit => Number.parseInt(digit, 36)));

/** The symbol that four bits end, or one of these. */
const NO_SYMBOL = 0xff00;
const WRONG = 0xffff;
/**
 * Two entries for each node and the next four bits: the node to which they lead, and the symbol
 * that they end.
 */
const STEPS: Uint16Array = buildSteps(TREE);
/** Whether a text may end at a node. The bits since its last symbol are ones. */
const MAY_END: Uint8Array = buildEnds(TREE);

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

function buildSteps(tree: Uint16Array): Uint16Array {
  const steps = new Uint16Array(2 * (NODES << STEP_BITS));
  for (let step = 0; step < NODES << STEP_BITS; step++) {
    let node = step >> STEP_BITS;
    let symbol = NO_SYMBOL;
    for (let bit = STEP_BITS - 1; bit >= 0; bit--) {
      node = tree[2 * node + ((step >> bit) & 1)] ?? 0;
      if (node < LEAF) continue;
      symbol = node === (LEAF | END) || symbol === WRONG ? WRONG : node & ~LEAF;
      node = 0;
    }
    steps.set([node, symbol], 2 * step);
  }
  return steps;
}

function buildEnds(tree: Uint16Array): Uint8Array {
  const ends = new Uint8Array(NODES);
  for (let node = 0, bits = 0; bits <= MOST_PADDING; bits++) {
    ends[node] = 1;
    node = tree[2 * node + 1] ?? 0;
  }
  return ends;
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
  for (let at = 2 * start; at < 2 * end; at++) {
    const byte = bytes[at >> 1] ?? 0;
    const bits = (at & 1) === 0 ? byte >> STEP_BITS : byte & 0x0f;
    const step = 2 * ((node << STEP_BITS) | bits);
    const symbol = STEPS[step + 1] ?? WRONG;
    node = STEPS[step] ?? 0;
    if (symbol === NO_SYMBOL) continue;
    if (symbol === WRONG)
      throw new ConnectionError(ERROR.compressionError, 'a text with the end symbol in it');
    text[length++] = symbol;
  }
  if (MAY_END[node] !== 1)
    throw new ConnectionError(ERROR.compressionError, 'a text with wrong padding');
  return text.toString('latin1', 0, length);
}
