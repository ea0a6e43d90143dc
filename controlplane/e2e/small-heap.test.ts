import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

/** Holds so many pieces of 130 KB, replaces one after the other, and prints the most it held. */
const program = (pieces: number, keeps: boolean) => `
  import { keepHeapSmall } from '#controlplane/small-heap.ts';
  import { setImmediate } from 'node:timers/promises';
  import { getHeapStatistics } from 'node:v8';
  if (${keeps}) keepHeapSmall();
  const piece = () => Array.from({ length: 3_000 }, (_, at) => ({ at }));
  const kept = Array.from({ length: ${pieces} }, piece);
  let most = 0;
  for (let at = 0; at < ${pieces * 6}; at += 1) {
    kept[at % kept.length] = piece();
    await setImmediate();
    most = Math.max(most, getHeapStatistics().used_heap_size);
  }
  console.log(most / 2 ** 20);`;

function highestMib(pieces: number, keeps: boolean): number {
  const args = ['--max-semi-space-size=4', '--input-type=module-typescript', '-e'];
  const options = { encoding: 'utf8', cwd: import.meta.dirname } as const;
  return Number(execFileSync(process.execPath, [...args, program(pieces, keeps)], options));
}

test('a small heap is collected before it has doubled', () => {
  assert.ok(highestMib(200, true) < 0.8 * highestMib(200, false));
});

test('a large heap is collected when V8 likes', () => {
  assert.ok(highestMib(1_000, true) > 0.8 * highestMib(1_000, false));
});
