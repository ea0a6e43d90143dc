import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueRoot } from './root.ts';
import { addRoot, issuerOf, type Lifetimes, type Roots, rootsPem, tendRoots } from './roots.ts';
import { formatRoots, parseRoots } from './roots-text.ts';

const HOUR = 3_600_000;
const LIFETIMES: Lifetimes = { leafMs: 24 * HOUR, rootMs: 1_000 * HOUR };
const START = Date.UTC(2026, 0, 1);

async function withRoot(roots: Roots, now: number): Promise<Roots> {
  return addRoot(roots, await issueRoot({ now, lifetimeMs: LIFETIMES.rootMs }), now, LIFETIMES);
}

const FIRST = await withRoot([], START);
const HALF = START + 500 * HOUR;
const BOTH = await withRoot(FIRST, HALF);

function issuer(roots: Roots, now: number): number {
  return roots.findIndex(({ certificate }) => certificate === issuerOf(roots, now)?.certificate);
}

test('the first root issues at once, and is not renewed before half of its life', () => {
  assert.equal(issuer(FIRST, START), 0);
  assert.deepEqual(tendRoots(FIRST, HALF - 1, LIFETIMES), { roots: FIRST, renew: false });
  assert.equal(tendRoots(FIRST, HALF, LIFETIMES).renew, true);
  assert.equal(tendRoots([], START, LIFETIMES).renew, true);
});

test('a new root is known for ten minutes before it issues', () => {
  assert.deepEqual([issuer(BOTH, HALF), issuer(BOTH, HALF + 10 * 60_000 - 1)], [0, 0]);
  assert.equal(issuer(BOTH, HALF + 10 * 60_000), 1);
  assert.equal(rootsPem(BOTH), FIRST[0]?.certificate + (BOTH[1]?.certificate ?? ''));
});

test('an old root gives up its key when the new one issues, and leaves when its last certificate has ended', () => {
  const issues = HALF + 10 * 60_000;
  assert.equal(tendRoots(BOTH, issues - 1, LIFETIMES).roots[0]?.key, FIRST[0]?.key);
  const handed = tendRoots(BOTH, issues, LIFETIMES).roots;
  assert.deepEqual([handed.length, handed[0]?.key], [2, undefined]);
  const last = issues + 24 * HOUR;
  assert.equal(tendRoots(handed, last, LIFETIMES).roots.length, 2);
  assert.equal(tendRoots(handed, last + 5 * 60_000, LIFETIMES).roots.length, 1);
});

test('a shorter lifetime that is configured later does not let certificates outlive their root', () => {
  const short: Lifetimes = { ...LIFETIMES, leafMs: HOUR };
  const issues = HALF + 10 * 60_000;
  const handed = tendRoots(BOTH, issues, short).roots;
  assert.equal(tendRoots(handed, issues + 23 * HOUR, short).roots.length, 2);
});

test('a longer lifetime counts from then on', () => {
  const long: Lifetimes = { ...LIFETIMES, leafMs: 48 * HOUR };
  assert.equal(tendRoots(FIRST, START, long).roots[0]?.leafMs, 48 * HOUR);
});

test('with a clock that was set back a little the oldest root goes on', () => {
  assert.equal(issuer(BOTH, START - 60_000), 0);
  assert.equal(tendRoots(FIRST, START - 60_000, LIFETIMES).renew, false);
});

test('with a clock that was set back to before a root it is replaced by one that issues at once', async () => {
  const before = START - HOUR;
  assert.equal(issuer(FIRST, before), -1);
  const tended = tendRoots(FIRST, before, LIFETIMES);
  assert.deepEqual(tended, { roots: FIRST, renew: true });
  const roots = await withRoot(tended.roots, before);
  assert.equal(issuer(roots, before), 1);
  const later = tendRoots(roots, before, LIFETIMES);
  assert.deepEqual([later.renew, later.roots[0]?.key], [false, undefined]);
  assert.equal(
    rootsPem(later.roots),
    rootsPem(roots),
    'what the first has issued may be valid soon',
  );
});

test('so it is when the root before has given up its key already', async () => {
  const handed = tendRoots(BOTH, HALF + HOUR, LIFETIMES).roots;
  const before = START + HOUR;
  assert.equal(tendRoots(handed, before, LIFETIMES).renew, true);
  assert.equal(issuer(await withRoot(handed, before), before), 2);
});

test('a root that has expired issues nothing, since nobody would trust it', () => {
  const end = START + LIFETIMES.rootMs;
  assert.deepEqual([issuer(FIRST, end - 1_000), issuer(FIRST, end + 1_000)], [0, -1]);
});

test('a root that has expired is replaced at once, by one that issues at once', async () => {
  const much = START + 2_000 * HOUR;
  const tended = tendRoots(FIRST, much, LIFETIMES);
  assert.deepEqual(tended, { roots: [], renew: true });
  assert.equal(issuer(await withRoot(tended.roots, much), much), 0);
});

test('roots are read as they were written', () => {
  assert.deepEqual(parseRoots(formatRoots(BOTH)), { roots: BOTH });
  const handed = tendRoots(BOTH, HALF + HOUR, LIFETIMES).roots;
  assert.deepEqual(parseRoots(formatRoots(handed)), { roots: handed });
});

const [root] = FIRST;
const other = BOTH[1]?.key ?? '';
const BROKEN: readonly (readonly [text: string, error: RegExp])[] = [
  ['', /not what this version of the authority writes/],
  ['{}', /not what this version of the authority writes/],
  [JSON.stringify({ format: 2, roots: [root] }), /not what this version of the authority writes/],
  [
    JSON.stringify({ roots: Array(17).fill(root) }),
    /not what this version of the authority writes/,
  ],
  [JSON.stringify({ roots: [null] }), /roots\[0\]: certificate: want PEM/],
  [JSON.stringify({ roots: [{ ...root, key: 1 }] }), /roots\[0\]: key: want PEM/],
  [JSON.stringify({ roots: [{ ...root, leafMs: '1' }] }), /issuesFrom, leafMs: want milliseconds/],
  [
    JSON.stringify({ roots: [root, { ...root, key: other }] }),
    /roots\[1\]: the private key does not fit/,
  ],
  [JSON.stringify({ roots: [{ ...root, certificate: 'x' }] }), /holds no certificate/],
];

for (const [text, error] of BROKEN) {
  test(`damaged roots are an error without their keys: ${error.source}`, () => {
    const parsed = parseRoots(text);
    assert.ok('error' in parsed);
    assert.match(parsed.error, error);
    assert.ok(!parsed.error.includes('PRIVATE'));
  });
}
