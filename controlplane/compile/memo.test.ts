import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Memo } from './memo.ts';

test('a result lives as long as each compilation asks for it', () => {
  const memo = new Memo();
  const first = memo.get('a', () => ({}));
  assert.equal(
    memo.get('a', () => ({})),
    first,
    'within a compilation',
  );
  memo.endCompilation();
  assert.equal(
    memo.get('a', () => ({})),
    first,
    'in the next one',
  );
  memo.endCompilation();
  memo.endCompilation();
  assert.notEqual(
    memo.get('a', () => ({})),
    first,
    'after one that did not ask',
  );
});
