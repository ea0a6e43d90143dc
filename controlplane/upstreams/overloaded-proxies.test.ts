import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FigureSource } from '#controlplane/figures/figures.ts';
import { describeProblem } from '#controlplane/rollout/problems.ts';
import { overloadedProxyProblems } from './overloaded-proxies.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const source = (node: string, seconds?: number) => ({
  ...{ node, group: 'edge', at: NOW },
  ...(seconds === undefined ? {} : { overloadedSince: NOW - 1_000 * seconds }),
});

const told = (...sources: FigureSource[]) =>
  overloadedProxyProblems(sources, NOW).map(describeProblem);

test('a proxy that turns requests away for some seconds is told as an error', () => {
  assert.deepEqual(told(source('edge-1'), source('edge-2', 5)), []);
  assert.deepEqual(told(source('edge-1'), source('edge-2', 10)), [
    'error: Envoy edge-2: node group "edge": its heap is full, so it answers 503 and accepts no connection. Give Mappings a narrower `host` if it has many routes, or raise `max_heap_size_bytes` in its bootstrap. Since 2026-01-02T03:03:55Z',
  ]);
});

test('a proxy that closes new connections for some seconds is told too', () => {
  assert.deepEqual(told({ ...source('edge-1'), fullSince: NOW - 5_000 }), []);
  const [problem, ...more] = told({ ...source('edge-1'), fullSince: NOW - 10_000 });
  assert.match(problem ?? '', /^error: Envoy edge-1: .* clients hold all connections that it/);
  assert.deepEqual(more, []);
});

test('of several the first is named, with how many more there are', () => {
  const [problem, ...more] = told(source('b', 10), source('a', 20), source('c', 30), source('d'));
  assert.match(problem ?? '', /^error: Envoy a: .*\. The same for 2 more\. Since .*03:03:35Z$/);
  assert.deepEqual(more, []);
});
