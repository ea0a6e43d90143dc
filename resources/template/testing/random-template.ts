import type { Fixture } from './fixture.ts';

/** The pieces of which random templates are made. */
const PIECES: readonly string[] = [
  ...'{{ }} {{- -}} . $ $x $i := = , | ( ) " \' ` nil true false 0 1 2 -1 1.5 1e3 0x1F 1i \n {{/* */}}'.split(
    ' ',
  ),
  ...'if else end range with define template block break continue and or not len index slice print'.split(
    ' ',
  ),
  ...'printf println html js urlquery call eq ne lt le gt ge hasKey doNotSet json "" "a" "%v" "%d" "é\\xff"'.split(
    ' ',
  ),
  ...'.token .token.Claims .token.Claims.list .RetryAfter .Seconds .nope .x .int .half .string .map .nil'.split(
    ' ',
  ),
  ...'{{if {{else}} {{end}} {{range {{with {{.}} {{$x}} {{define "a"}} {{template "a" {{block "a"'.split(
    ' ',
  ),
];
const VALUES =
  '.token.Claims .token.Claims.list .token.Claims.sub .httpRequestHeader . $ $x nil 0 1 2 -1 1.5 "a" "%v" "%5.2f" true .nope .token'.split(
    ' ',
  );
const FUNCTIONS =
  'and or not len index slice print printf println html js urlquery eq ne lt le gt ge hasKey call'.split(
    ' ',
  );

/** A random number below `below` from a seed that it moves on. */
export type Random = (below: number) => number;

/** A generator of random numbers (mulberry32), the same for the same seed. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return below => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A random case: a fixture varied, pieces in any order, or a template that mostly parses. */
export function randomCase(
  random: Random,
  fixtures: readonly Fixture[],
): Pick<Fixture, 'data' | 'use' | 'text'> {
  const fixture = pick(random, fixtures);
  const kind = random(4);
  if (kind === 0) return { ...fixture, text: mutate(random, fixture.text.slice(0, 400)) };
  if (kind === 1) return { ...fixture, text: soup(random) };
  if (kind === 2) return { data: 'claims', use: 'header', text: sentence(random, 3) };
  return { data: pick(random, fixtures).data, use: fixture.use, text: fixture.text };
}

function mutate(random: Random, text: string): string {
  const units = [...text];
  for (let change = random(4); change >= 0; change--) {
    const at = random(units.length + 1);
    const inserted = random(3) === 0 ? [] : [pick(random, PIECES)];
    units.splice(at, random(3), ...inserted);
  }
  return units.join('');
}

function soup(random: Random): string {
  const pieces = Array.from({ length: 1 + random(20) }, () => pick(random, PIECES));
  return pieces.join(pick(random, [' ', '', ' ']));
}

function sentence(random: Random, depth: number): string {
  const parts = Array.from({ length: 1 + random(3) }, () => action(random, depth));
  return `{{ $x := ${pick(random, VALUES.slice(0, 4))} }}${parts.join('')}`;
}

function action(random: Random, depth: number): string {
  const kind = depth === 0 ? 0 : random(5);
  if (kind < 2) return `{{ ${pipeline(random, 2)} }}`;
  const word = pick(random, ['if', 'with', 'range', 'range $i, $x :=']);
  const jump = word.startsWith('range') && random(4) === 0 ? '{{ break }}' : '';
  const otherwise = random(2) === 0 ? `{{ else }}${action(random, depth - 1)}` : '';
  return `{{ ${word} ${pipeline(random, 1)} }}${action(random, depth - 1)}${jump}${otherwise}{{ end }}`;
}

function pipeline(random: Random, depth: number): string {
  const first = random(3) === 0 ? pick(random, VALUES) : command(random, depth);
  const more = Array.from({ length: random(2) }, () => ` | ${command(random, depth)}`);
  return first + more.join('');
}

function command(random: Random, depth: number): string {
  const args = Array.from({ length: random(4) }, () =>
    depth > 0 && random(4) === 0 ? `(${pipeline(random, depth - 1)})` : pick(random, VALUES),
  );
  return [pick(random, FUNCTIONS), ...args].join(' ');
}

function pick<T>(random: Random, items: readonly [T, ...T[]] | readonly T[]): T {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
