import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AbsentGroups, absentGroupProblems, absentGroups } from './absent-groups.ts';

/** Plays who is connected at these seconds. Returns what is told after the last. */
function told(...looks: readonly (readonly [second: number, ...connected: string[]])[]) {
  let absent: AbsentGroups = new Map();
  let now = 0;
  for (const [second, ...connected] of looks) {
    now = second * 1000;
    absent = absentGroups(absent, new Set(connected), now);
  }
  return absentGroupProblems(absent, now).map(
    ({ kind, message, name, severity, since }) =>
      `${since} ${severity} ${kind} ${name}: ${message}`,
  );
}

test('a service of the gateway that has left is told after a while, until it is back', () => {
  assert.deepEqual(told([0, 'sds', 'edge'], [2, 'edge'], [11, 'edge']), []);
  const [line, ...more] = told([0, 'sds', 'edge'], [2, 'edge'], [4, 'edge'], [12, 'edge']);
  assert.match(
    line ?? '',
    /^1970-01-01T00:00:02.000Z warning Service sds: it is not connected to the control plane\. .* learn of no instance/,
  );
  assert.deepEqual(more, []);
  assert.deepEqual(told([0, 'sds'], [2], [12], [14, 'sds'], [30, 'sds']), []);
});

test('the last edge that has left is told', () => {
  const [line] = told([0, 'edge', 'shop'], [2, 'shop'], [12, 'shop']);
  assert.match(
    line ?? '',
    / Envoy edge: no proxy of this node group is connected .* get no answer$/,
  );
});

test('what never came is not told, nor is an instance that has left', () => {
  assert.deepEqual(told([0, 'users-1', 'edge'], [2, 'edge'], [60, 'edge']), []);
});
