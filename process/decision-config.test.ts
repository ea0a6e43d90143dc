import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workersByDefault } from './decision-config.ts';

for (const [cores, workers] of [
  [1, 1],
  [2, 1],
  [3, 2],
  [16, 15],
  [1024, 256],
] as const) {
  test(`${cores} cores: ${workers} workers`, () => {
    assert.equal(workersByDefault(cores), workers);
  });
}
