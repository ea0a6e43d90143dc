import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileContent } from './file-content.ts';
import { halfWritten, holdBack } from './half-written.ts';

const WHOLE = 'kind: Mapping\n---\nkind: FilterPolicy\n';

/** A folder with one file of this content, or none. */
function folderOf(content: FileContent | undefined, identity = 'inode 1') {
  const signature = JSON.stringify(content);
  return {
    files: new Map(content === undefined ? [] : [['a.yaml', content]]),
    listing: {
      files: new Map(
        content === undefined ? [] : [['a.yaml', { identity, signature, written: 0 }]],
      ),
      folders: new Map(),
      loops: [],
    },
  };
}

type Case = {
  readonly what: string;
  readonly before: FileContent | undefined;
  readonly now: FileContent | undefined;
  readonly half: boolean;
};

const CASES: readonly Case[] = [
  {
    what: 'shorter, with whole lines',
    before: { text: WHOLE },
    now: { text: 'kind: Mapping\n' },
    half: true,
  },
  {
    what: 'longer, and cut in a line',
    before: { text: WHOLE },
    now: { text: `${WHOLE}---\nki` },
    half: true,
  },
  {
    what: 'longer, with whole lines',
    before: { text: WHOLE },
    now: { text: `${WHOLE}---\n` },
    half: false,
  },
  {
    what: 'longer, of a file without a last line feed',
    before: { text: 'a: 1' },
    now: { text: 'a: 12' },
    half: false,
  },
  { what: 'as long as before', before: { text: 'a: 1\n' }, now: { text: 'a: 2\n' }, half: false },
  { what: 'the same', before: { text: 'a: 1' }, now: { text: 'a: 1' }, half: false },
  { what: 'new', before: undefined, now: { text: WHOLE }, half: true },
  { what: 'new and empty', before: undefined, now: { text: '' }, half: false },
  { what: 'no longer empty', before: { text: '' }, now: { text: WHOLE }, half: true },
  { what: 'gone', before: { text: WHOLE }, now: undefined, half: false },
  {
    what: 'cut in a character',
    before: { text: WHOLE },
    now: { error: 'not text in UTF-8' },
    half: true,
  },
  {
    what: 'readable again',
    before: { error: 'not text in UTF-8' },
    now: { text: WHOLE },
    half: true,
  },
  { what: 'new and unreadable', before: undefined, now: { error: 'denied' }, half: false },
];

for (const { what, before, now, half } of CASES)
  test(`a file that is ${what} ${half ? 'may be half written' : 'is whole'}`, () => {
    assert.deepEqual(halfWritten(folderOf(before), folderOf(now)), half ? ['a.yaml'] : []);
  });

test('a shorter file that took the place of another one is whole', () => {
  const [before, now] = [folderOf({ text: WHOLE }), folderOf({ text: 'a: 1' }, 'inode 2')];
  assert.deepEqual(halfWritten(before, now), []);
});

test('what is held back is as it was before, and a new file is not there', () => {
  const [old, changed] = [{ text: 'old' }, { text: 'changed' }];
  const before = new Map([
    ['a.yaml', old],
    ['b.yaml', old],
  ]);
  const now = new Map(['a.yaml', 'b.yaml', 'new.yaml'].map(file => [file, changed]));
  assert.deepEqual(
    [...holdBack(['a.yaml', 'new.yaml'], before, now)],
    [
      ['a.yaml', old],
      ['b.yaml', changed],
    ],
  );
});
