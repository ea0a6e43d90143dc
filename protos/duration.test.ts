import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, parseDuration } from './duration.ts';

for (const [text, seconds, nanos] of [
  ['0s', 0, 0],
  ['5s', 5, 0],
  ['1.500s', 1, 500_000_000],
  ['0.000000001s', 0, 1],
  ['0.000250s', 0, 250_000],
  ['-1.500s', -1, -500_000_000],
  ['-0.250s', 0, -250_000_000],
  ['315576000000s', 315_576_000_000, 0],
] as const) {
  test(`${text} is ${seconds} s and ${nanos} ns, and back`, () => {
    assert.deepEqual(parseDuration(text), { seconds, nanos });
    assert.equal(formatDuration({ seconds, nanos }), text);
  });
}

test('a fraction may be shorter than it is written', () => {
  assert.deepEqual(parseDuration('1.5s'), { seconds: 1, nanos: 500_000_000 });
});

test('minus nothing is nothing', () => {
  assert.deepEqual(parseDuration('-0s'), { seconds: 0, nanos: 0 });
});

for (const bad of [
  '',
  's',
  '5',
  5,
  '5ms',
  '5 s',
  '+5s',
  '.5s',
  '5.s',
  '1e3s',
  '1m30s',
  '--5s',
  '315576000000.1s',
  null,
  {},
]) {
  test(`${JSON.stringify(bad)} is no duration`, () => assert.equal(parseDuration(bad), undefined));
}
