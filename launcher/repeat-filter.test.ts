import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { repeatFilter } from './repeat-filter.ts';

describe('a line of which there are many', () => {
  test('is shown once in 10 s, whatever its numbers', () => {
    let time = 0;
    const isNews = repeatFilter(() => time);
    const tell = (at: number, line: string) => {
      time = at;
      return isNews(line);
    };
    assert.deepEqual(
      [
        tell(0, 'stream closed since 1s ago'),
        tell(1, 'stream closed since 2s ago'),
        tell(2, 'something else'),
        tell(9_999, 'stream closed since 11s ago'),
        tell(10_000, 'stream closed since 12s ago'),
        tell(10_001, 'stream closed since 13s ago'),
      ],
      [true, false, true, false, true, false],
    );
  });
});
