import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleShare, processorMs } from './processor-time.ts';

const TICKS_MS = 30;

test('the processor time is that of the work of this process', () => {
  const [before, own] = [processorMs(), process.cpuUsage()];
  const spent = () => {
    const { system, user } = process.cpuUsage(own);
    return (system + user) / 1_000;
  };
  while (spent() < 200);
  const measured = processorMs() - before;
  assert.ok(measured >= 200 - TICKS_MS, `${measured} ms of ${spent()} ms`);
});

test('the idle share of the machine is from 0 to 1, and less while it works', () => {
  const idle = idleShare();
  const end = performance.now() + 200;
  while (performance.now() < end);
  const share = idle();
  assert.ok(share >= 0 && share < 1, `${share}`);
});
