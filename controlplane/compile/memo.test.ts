import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Memo } from './memo.ts';

const OWNER = {};
const make = () => ({});

test('the same owner and inputs give the very same result', () => {
  const memo = new Memo();
  const input = {};
  assert.equal(memo.of(OWNER, 'a', ['x', input], make), memo.of(OWNER, 'a', ['x', input], make));
});

for (const [what, of] of [
  ['another owner', memo => memo.of({}, 'a', ['x'], make)],
  ['another kind of result', memo => memo.of(OWNER, 'b', ['x'], make)],
  ['another input', memo => memo.of(OWNER, 'a', ['y'], make)],
  ['an equal input that is not the same', memo => memo.of(OWNER, 'a', [{}], make)],
  ['one more input', memo => memo.of(OWNER, 'a', ['x', 'y'], make)],
  ['one input less', memo => memo.of(OWNER, 'a', [], make)],
] satisfies [string, (memo: Memo) => object][]) {
  test(`${what} gives another result`, () => {
    const memo = new Memo();
    assert.notEqual(of(memo), memo.of(OWNER, 'a', ['x'], make));
  });
}

test('only the last result of an owner is kept', () => {
  const memo = new Memo();
  const first = memo.of(OWNER, 'a', ['x'], make);
  memo.of(OWNER, 'a', ['y'], make);
  assert.notEqual(memo.of(OWNER, 'a', ['x'], make), first);
});
