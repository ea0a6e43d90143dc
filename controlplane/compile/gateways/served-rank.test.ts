import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareRanks, type ServedRank } from './served-rank.ts';

const BASE: ServedRank = {
  hostname: '*',
  isCall: false,
  path: 'prefix',
  length: 1,
  hasMethod: false,
  headers: 0,
  query: 0,
  created: '2026-01-01T00:00:00Z',
  name: 'shop/b',
  rule: 0,
  match: 0,
};

/** Each is tried before the plain one, whatever the fields after its own say. */
const EARLIER: readonly [what: string, rank: Partial<ServedRank>, plain?: Partial<ServedRank>][] = [
  ['a whole hostname', { hostname: 'a.test' }, { isCall: true, path: 'exact', length: 9 }],
  ['a longer wildcard', { hostname: '*.b.test' }, { hostname: '*.test', path: 'exact' }],
  ['a call', { isCall: true, length: 0 }, { path: 'exact', hasMethod: true }],
  ['an exact path', { path: 'exact' }, { length: 9, hasMethod: true }],
  ['an expression', { path: 'expression' }, { length: 9, hasMethod: true }],
  ['a longer prefix', { length: 2 }, { hasMethod: true, headers: 9 }],
  ['a method', { hasMethod: true }, { headers: 9, query: 9 }],
  ['more headers', { headers: 2 }, { headers: 1, query: 9 }],
  ['more parameters', { query: 2 }, { query: 1, created: '2025-01-01T00:00:00Z' }],
  ['an older route', { created: '2025-12-31T23:59:59Z' }, { name: 'shop/a' }],
  ['an earlier name', { name: 'shop/a', rule: 3 }],
  ['an earlier namespace', { name: 'all/z' }],
  ['an earlier rule', { match: 5 }, { rule: 1 }],
  ['an earlier match', {}, { match: 1 }],
];

for (const [what, rank, plain = {}] of EARLIER) {
  test(`${what} comes first`, () => {
    const ranks = [
      { ...BASE, ...plain },
      { ...BASE, ...rank },
    ];
    assert.ok(compareRanks(ranks[1] ?? BASE, ranks[0] ?? BASE) < 0);
    assert.ok(compareRanks(ranks[0] ?? BASE, ranks[1] ?? BASE) > 0);
  });
}
