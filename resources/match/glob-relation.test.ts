import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#protos/testing/random.ts';
import { matchGlob, parseGlob } from './glob.ts';
import { commonText, globCovers } from './glob-relation.ts';

const CASES: readonly [a: string, b: string, covers: boolean, meets: boolean][] = [
  ['*', '/adm', true, true],
  ['/adm*', '/adm/*', true, true],
  ['/adm/*', '/adm*', false, true],
  ['/adm', '/adm*', false, true],
  ['/adm/*', '/adm', false, false],
  ['/a*', '/b*', false, false],
  ['*.html', '/a*', false, true],
  ['*a', '*b', false, false],
  ['*a*b*', '*a*', false, true],
  ['*a*', '*b*a*b*', true, true],
  ['a*a', 'a', false, false],
  ['a*a', 'aa', true, true],
];

for (const [a, b, covers, meets] of CASES)
  test(`${a} ${covers ? 'covers' : 'does not cover'} ${b}, and they ${meets ? 'meet' : 'never meet'}`, () => {
    assert.equal(globCovers(parseGlob(a), parseGlob(b)), covers);
    assert.equal(commonText(parseGlob(a), parseGlob(b)) !== undefined, meets);
  });

/** All texts of three letters, one of which stands in no glob, up to this length. */
function textsUpTo(length: number): readonly string[] {
  const shorter = length === 0 ? [] : textsUpTo(length - 1);
  const longest = shorter.filter(text => text.length === length - 1);
  return length === 0
    ? ['']
    : [...shorter, ...longest.flatMap(text => [...'abz'].map(next => text + next))];
}

test('what covers and what meets are as the matches of all short texts say', () => {
  const random = seededRandom(7);
  const glob = () =>
    Array.from({ length: Math.floor(random() * 5) }, () => 'ab**'[Math.floor(random() * 4)]).join(
      '',
    );
  const texts = textsUpTo(8);
  const seen = { covers: 0, meets: 0 };
  for (let round = 0; round < 400; round++) {
    const [a, b] = [parseGlob(glob()), parseGlob(glob())];
    const ofB = texts.filter(text => matchGlob(b, text));
    const covers = ofB.every(text => matchGlob(a, text));
    const common = commonText(a, b);
    assert.equal(globCovers(a, b), covers, JSON.stringify([a, b]));
    assert.equal(
      common !== undefined,
      ofB.some(text => matchGlob(a, text)),
      JSON.stringify([a, b]),
    );
    if (common !== undefined) assert.ok(matchGlob(a, common) && matchGlob(b, common));
    seen.covers += Number(covers);
    seen.meets += Number(common !== undefined);
  }
  assert.ok(seen.covers > 50 && seen.meets > 100 && seen.meets < 400, JSON.stringify(seen));
});
