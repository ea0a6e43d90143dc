import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds } from './holds.ts';

const cases: readonly [value: unknown, wanted: unknown, held: boolean][] = [
  [{ a: 1, b: 2 }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, true],
  [{ a: { b: 2 } }, { a: { b: 1 } }, false],
  [[{ port: 1, nodePort: 3 }, { port: 2 }], [{ port: 1 }], true],
  [[{ port: 2 }], [{ port: 1 }], false],
  [undefined, { a: 1 }, false],
  [{}, [], false],
  [{ a: 1 }, {}, true],
  ['2', 2, false],
];

for (const [value, wanted, held] of cases)
  test(`${JSON.stringify(value)} ${held ? 'has' : 'lacks'} ${JSON.stringify(wanted)}`, () => {
    assert.equal(holds(value, wanted), held);
  });
