import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFiles } from '../test-files.ts';
import { LONGEST_TEST_MS, longestMs, slowestFirst } from './limits.ts';

const files = testFiles(join(import.meta.dirname, '..', '..'), []);

test('the suite of Gateway API and the one of Docker alone may take longer than all other files', () => {
  const long = files.filter(file => longestMs(file) !== undefined);
  assert.deepEqual(long, ['conformance/e2e/conformance.test.ts', 'deploy/e2e/docker.test.ts']);
  for (const file of long) assert.ok((longestMs(file) ?? 0) > LONGEST_TEST_MS);
});

test('the slowest files begin first, and the others keep their order', () => {
  const ordered = slowestFirst(files);
  assert.deepEqual([...ordered].sort(), files);
  assert.equal(ordered[0], 'conformance/e2e/rollouts.test.ts');
  const moved = ordered.filter((file, at) => at > 0 && file < (ordered[at - 1] ?? ''));
  assert.ok(moved.length < 20, moved.join());
});
