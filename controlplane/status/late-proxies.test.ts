import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lateProxyProblems } from './late-proxies.ts';

test('proxies that the others left behind are one Problem, which names one of them', () => {
  const streams = ['c', 'b', 'a', 'd'].map((node, id) => ({
    ...{ id, node },
    standing: node === 'a' ? ('settled' as const) : ('waiting' as const),
  }));
  const [problem, ...more] = lateProxyProblems(streams, id => id !== '3');
  assert.equal(more.length, 0);
  assert.match(problem?.message ?? '', /^has not answered .* \(and 1 more\)$/);
  assert.deepEqual([problem?.severity, problem?.name], ['warning', 'b']);
  assert.deepEqual(
    lateProxyProblems(streams, () => false),
    [],
  );
});
