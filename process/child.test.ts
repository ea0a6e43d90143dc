import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BEGIN,
  type ChildEvent,
  type ChildState,
  type Effect,
  type Phase,
  phaseMs,
  step,
} from './child.ts';

type Row = [from: Phase, event: ChildEvent, to: Phase, effect?: Effect];

const TABLE: readonly Row[] = [
  ['starting', 'ready', 'ready'],
  ['starting', 'exited', 'backoff'],
  ['starting', 'unspawnable', 'failed'],
  ['starting', 'drain', 'draining'],
  ['starting', 'stop', 'stopping', 'SIGTERM'],
  ['starting', 'kill', 'stopping', 'SIGKILL'],
  ['ready', 'ready', 'ready'],
  ['ready', 'timer', 'running'],
  ['ready', 'exited', 'backoff'],
  ['ready', 'drain', 'draining'],
  ['ready', 'stop', 'stopping', 'SIGTERM'],
  ['running', 'ready', 'running'],
  ['running', 'exited', 'backoff'],
  ['running', 'stop', 'stopping', 'SIGTERM'],
  ['running', 'kill', 'stopping', 'SIGKILL'],
  ['backoff', 'timer', 'starting', 'spawn'],
  ['backoff', 'stop', 'stopped'],
  ['backoff', 'drain', 'stopped'],
  ['backoff', 'kill', 'stopped'],
  ['draining', 'ready', 'draining'],
  ['draining', 'exited', 'stopped'],
  ['draining', 'stop', 'stopping', 'SIGTERM'],
  ['draining', 'kill', 'stopping', 'SIGKILL'],
  ['stopping', 'stop', 'stopping'],
  ['stopping', 'timer', 'stopping', 'SIGKILL'],
  ['stopping', 'kill', 'stopping', 'SIGKILL'],
  ['stopping', 'exited', 'stopped'],
  ['stopped', 'stop', 'stopped'],
  ['stopped', 'timer', 'stopped'],
  ['failed', 'timer', 'failed'],
  ['failed', 'stop', 'failed'],
];

describe('a child', () => {
  for (const [from, event, to, effect] of TABLE) {
    test(`${from}, ${event}: ${to}${effect === undefined ? '' : ` by ${effect}`}`, () => {
      const next = step({ phase: from, failures: 1 }, event);
      assert.deepEqual([next.state.phase, next.effect], [to, effect]);
    });
  }

  test('waits longer after each failure, up to 10 s', () => {
    const waits: (number | undefined)[] = [];
    let state: ChildState = BEGIN.state;
    for (let failure = 0; failure < 8; failure++) {
      state = step(state, 'exited').state;
      waits.push(phaseMs(state));
      state = step(state, 'timer').state;
    }
    assert.deepEqual(waits, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  });

  test('that was up for 30 s begins to count again', () => {
    const ready: ChildState = { phase: 'ready', failures: 5 };
    assert.equal(phaseMs(ready), 30_000);
    const running = step(ready, 'timer').state;
    assert.equal(phaseMs(step(running, 'exited').state), 200);
  });

  test('that fails again soon after it was ready does not', () => {
    const again = step({ phase: 'ready', failures: 2 }, 'exited').state;
    assert.equal(phaseMs(again), 800);
  });
});
