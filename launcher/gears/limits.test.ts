import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFiles } from '../test-files.ts';
import { LONGEST_TEST_MS, longestMs } from './limits.ts';

test('the suite of Gateway API alone may take longer than all other files', () => {
  const files = testFiles(join(import.meta.dirname, '..', '..'), []);
  const long = files.filter(file => longestMs(file) !== undefined);
  assert.deepEqual(long, ['conformance/e2e/conformance.test.ts']);
  for (const file of long) assert.ok((longestMs(file) ?? 0) > LONGEST_TEST_MS);
});
