import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchGlob, parseGlob } from './glob.ts';

const matches = (glob: string, text: string) => matchGlob(parseGlob(glob), text);

const CASES: readonly [glob: string, text: string, matched: boolean][] = [
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['*', '/a/b', true],
  ['**', '/a/b', true],
  ['/a', '/a', true],
  ['/a', '/A', false],
  ['/a', '/ab', false],
  ['/a*', '/a', true],
  ['/a/*', '/a', false],
  ['/a/*', '/a/b/c', true],
  ['/a/**', '/a/b/c', true],
  ['/a/**/z', '/a/b/c/z', true],
  ['/a/**/z', '/a/z', false],
  ['*.example.com', 'example.com', false],
  ['*.example.com', 'a.b.example.com', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['*ab*ab*', 'ab', false],
  ['*ab*ab*', 'abab', true],
  ['a*b*b', 'ab', false],
  ['a*ab*b', 'aab', false],
  ['*a', 'ba\n', false],
  ['a*', 'a\n\ud83d\ude00', true],
  ['a.b', 'axb', false],
  ['a?b', 'axb', false],
  ['[ab]', 'a', false],
];

for (const [glob, text, matched] of CASES) {
  test(`${glob} ${matched ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
    assert.equal(matches(glob, text), matched);
  });
}

/** Tries every split: slow and plainly right. */
function naive(glob: string, text: string): boolean {
  if (glob === '') return text === '';
  if (glob.startsWith('*'))
    return naive(glob.slice(1), text) || (text !== '' && naive(glob, text.slice(1)));
  return text !== '' && glob[0] === text[0] && naive(glob.slice(1), text.slice(1));
}

test('every glob up to 4 characters on every text up to 5 of an alphabet of two is as the naive model says', () => {
  const words = (alphabet: string, longest: number): string[] =>
    longest === 0
      ? ['']
      : [
          '',
          ...words(alphabet, longest - 1).flatMap(word =>
            [...alphabet].map(letter => letter + word),
          ),
        ];
  const texts = [...new Set(words('ab', 5))];
  for (const glob of new Set(words('ab*', 4))) {
    for (const text of texts)
      assert.equal(matches(glob, text), naive(glob, text), `${glob} ${text}`);
  }
});

test('many stars do not make it slow', () => {
  const started = process.cpuUsage();
  assert.equal(matches(`${'a*'.repeat(500)}b`, 'a'.repeat(60_000)), false);
  assert.ok(process.cpuUsage(started).user < 1_000_000);
});
