import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Memo } from '#controlplane/compile/memo.ts';
import { remembered } from './remembered.ts';

type Context = ReadonlyMap<string, string>;

function remember(memo: Memo, owner: object, context: Context, input: string, made: string[]) {
  return remembered({ memo, context }, owner, 'a text', [input], ask => {
    made.push(input);
    const first = ask(known => known.get('first'));
    return { text: `${input} ${first === 'look on' ? ask(known => known.get('next')) : first}` };
  });
}

test('a result is kept while all that it asked for is answered in the same way', () => {
  const [memo, owner, made] = [new Memo(), {}, [] as string[]];
  const run = (context: Context, input = 'a') => remember(memo, owner, context, input, made);
  const before = run(new Map([['first', 'x']]));
  assert.equal(
    run(
      new Map([
        ['first', 'x'],
        ['next', 'never asked for'],
      ]),
    ),
    before,
  );
  assert.deepEqual([before.text, made], ['a x', ['a']]);
});

test('a result is made again when an answer or an input differs', () => {
  const [memo, owner, made] = [new Memo(), {}, [] as string[]];
  const run = (context: Context, input = 'a') => remember(memo, owner, context, input, made).text;
  const texts = [
    run(new Map([['first', 'x']])),
    run(new Map([['first', 'y']])),
    run(new Map([['first', 'y']]), 'b'),
    run(
      new Map([
        ['first', 'look on'],
        ['next', 'z'],
      ]),
    ),
    run(
      new Map([
        ['first', 'look on'],
        ['next', 'w'],
      ]),
    ),
  ];
  assert.deepEqual(texts, ['a x', 'a y', 'b y', 'a z', 'a w']);
});
