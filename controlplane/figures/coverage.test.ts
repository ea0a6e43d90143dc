import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coverageOf, coverageText } from './coverage.ts';

const EDGE = { node: 'a', group: 'edge' };
const WEB = { node: 'a', group: 'web' };

test('a proxy counts once, wherever it reports and gets its configuration', () => {
  assert.deepEqual(coverageOf([EDGE, EDGE], [EDGE, WEB], true), {
    reporting: 1,
    known: 2,
    replicated: true,
  });
  assert.deepEqual(coverageOf([WEB], [EDGE], false), {
    reporting: 1,
    known: 2,
    replicated: false,
  });
});

test('only with several control planes it is told that others may have the rest', () => {
  assert.match(coverageText(coverageOf([EDGE], [EDGE, WEB], true)) ?? '', /^1 of 2 known proxies/);
  assert.equal(coverageText(coverageOf([EDGE], [EDGE, WEB], false)), undefined);
  assert.equal(coverageText(undefined), undefined);
});
