import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { splitDocuments } from './document-text.ts';
import { splitAgain } from './split-again.ts';

const LINES = ['---', '...', '--- a', '# c', '%YAML 1.2', 'a: 1', 'b: |', '  ---', '', '----'];

/** As long as texts are compared at once, and longer. */
const LONG = `# ${'x'.repeat(5_000)}`;

/** "Minimal standard" (Park and Miller, 1988). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

test('after any edits a file is split as if it was never split before', () => {
  const random = randomFrom(11);
  const line = () => (random(12) === 0 ? LONG : (LINES[random(LINES.length)] ?? ''));
  let lines: string[] = [];
  let before = { text: '', documents: splitDocuments('') };
  for (let round = 0; round < cases({ all: 5_000, quick: 1_250 }); round += 1) {
    const added = Array.from({ length: random(4) }, line);
    lines = lines.toSpliced(random(lines.length + 1), random(3), ...added).slice(-30);
    const text = lines.join('\n') + (random(3) === 0 ? '' : '\n');
    const documents = splitAgain(text, before);
    assert.deepEqual(documents, splitDocuments(text), JSON.stringify([before.text, text]));
    before = { text, documents };
  }
});

test('documents beside an edit are the very same objects', () => {
  const text = (value: string) => `---\na: 1\n---\nb: ${value}\n---\nc: 1\n`;
  const documents = splitDocuments(text('1'));
  const [first, second, third] = splitAgain(text('23'), { text: text('1'), documents });
  assert.equal(first, documents[0]);
  assert.equal(second?.text, '---\nb: 23\n');
  assert.equal(third, documents[2]);
});
