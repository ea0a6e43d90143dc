import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments, parseDocument } from 'yaml';
import { cases } from '#protos/testing/cases.ts';
import { splitDocuments } from './document-text.ts';

const FILES: readonly [what: string, text: string, texts: readonly string[]][] = [
  ['nothing', '', []],
  ['one bare document', 'a: 1\n', ['a: 1\n']],
  ['two documents', 'a: 1\n---\nb: 2\n', ['a: 1\n', '---\nb: 2\n']],
  ['a comment before the first marker', '# c\n\n---\na: 1\n', ['# c\n\n---\na: 1\n']],
  ['content on the marker line', '--- a\n--- "b"\n', ['--- a\n', '--- "b"\n']],
  ['more than three dashes', 'a\n----\n---b\n', ['a\n----\n---b\n']],
  ['dashes that are indented', 'a: |\n  ---\n  b\n', ['a: |\n  ---\n  b\n']],
  ['a marker in a block scalar, which it ends', 'a: |\n  x\n---\nb\n', ['a: |\n  x\n', '---\nb\n']],
  ['a marker in a quoted scalar, which it breaks', 'a: "x\n---\ny"\n', ['a: "x\n', '---\ny"\n']],
  [
    'an end marker and a directive',
    'a\n...\n%YAML 1.2\n---\nb\n',
    ['a\n...\n', '%YAML 1.2\n---\nb\n'],
  ],
  ['line ends of Windows', 'a: 1\r\n---\r\nb: 2\r\n', ['a: 1\r\n', '---\r\nb: 2\r\n']],
  ['no line end at the end', 'a\n---', ['a\n', '---']],
  ['empty documents', '---\n---\n', ['---\n', '---\n']],
];

for (const [what, text, texts] of FILES) {
  test(`a file with ${what}`, () => {
    const documents = splitDocuments(text);
    assert.deepEqual(
      documents.map(document => document.text),
      texts,
    );
  });
}

test('split and joined it is the same file, with as many lines before each document as stand there', () => {
  for (const [, file] of FILES) {
    let before = '';
    for (const { text, linesBefore } of splitDocuments(file)) {
      assert.equal(linesBefore, before.split('\n').length - 1);
      before += text;
    }
    assert.equal(before, file);
  }
});

/**
 * Deterministic, so that a failure can be repeated: the numbers of "minimal standard" (Park and
 * Miller, 1988).
 */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

const PIECES = [
  '---',
  '...',
  '--- a',
  '---\t',
  '# c',
  '%YAML 1.2',
  'a: 1',
  'b: |',
  '  ---',
  '  x',
  '- "q',
  'q"',
  '',
  '----',
  '- y',
  ' ...',
  '[a,',
  ']',
];

const ROUNDS = cases({ all: 3_000, quick: 750 });

test('a random file splits where the YAML library sees documents', () => {
  const random = randomFrom(7);
  let compared = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const lines = Array.from({ length: 1 + random(8) }, () => PIECES[random(PIECES.length)] ?? '');
    const file = `${lines.join('\n')}\n`;
    const whole = [...parseAllDocuments(file, { prettyErrors: false })];
    if (whole.some(document => document.errors.length > 0)) continue;
    compared += 1;
    const parts = splitDocuments(file).map(({ text }) =>
      parseDocument(text, { prettyErrors: false }),
    );
    const values = (documents: typeof whole) =>
      documents.map(document => document.toJS()).filter(value => value !== null);
    assert.deepEqual(values(parts), values(whole), file);
  }
  assert.ok(compared > ROUNDS / 6, `${compared} of ${ROUNDS} were YAML`);
});
