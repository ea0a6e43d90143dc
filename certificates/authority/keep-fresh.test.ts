import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { isDue, keepFresh } from './keep-fresh.ts';
import type { KeyPair } from './key-pair.ts';
import { issueServer } from './leaf.ts';
import { issueRoot } from './root.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);
const ROOT = await issueRoot({ now: START, lifetimeMs: 1_000 * HOUR });

/** Certificates of 24 hours, with a clock and timers that a test moves by hand. */
function setUp({ random = 0.5, fails = () => false }) {
  const state = { now: START, timers: [] as { at: number; run: () => void }[] };
  const issued: KeyPair[] = [];
  const troubles: string[] = [];
  const kept = keepFresh({
    async issue() {
      if (fails()) throw new Error('no');
      return issueServer(ROOT, ['a.test'], { now: state.now, lifetimeMs: 24 * HOUR });
    },
    onIssued: pair => void issued.push(pair),
    onTrouble: message => void troubles.push(message),
    now: () => state.now,
    random: () => random,
    after(ms, run) {
      const timer = { at: state.now + ms, run };
      state.timers.push(timer);
      return () => void state.timers.splice(state.timers.indexOf(timer), 1);
    },
  });
  /** Time goes on to the next timer. */
  const next = async () => {
    await until(() => (state.timers.length > 0 ? true : undefined));
    const [timer] = state.timers.splice(0);
    state.now = Math.max(timer?.at ?? 0, state.now);
    timer?.run();
    await until(() => (state.timers.length > 0 ? true : undefined));
  };
  return { state, issued, troubles, kept, next };
}

for (const [random, hours] of [
  [0, 10.8],
  [0.5, 12],
  [0.999, 13.2],
] as const) {
  test(`a certificate of 24 hours is renewed after some ${hours}`, async () => {
    const { state, issued, next } = setUp({ random });
    await until(() => (issued.length === 1 ? true : undefined));
    state.now += (hours - 0.2) * HOUR;
    while (issued.length < 2) await next();
    assert.ok(Math.abs((state.now - START) / HOUR - hours) < 0.05);
  });
}

test('sleeps are short, so that a machine that was suspended renews soon after', async () => {
  const { state, issued, next } = setUp({});
  await next();
  assert.ok(state.now - START <= 60_000);
  state.now += 20 * HOUR;
  await next();
  await until(() => (issued.length === 2 ? true : undefined));
});

test('a certificate that has not begun, since the clock was set back, is replaced soon after', async () => {
  const { state, issued, next } = setUp({});
  await next();
  for (const { ms, certificates } of [
    { ms: 60_000, certificates: 1 },
    { ms: HOUR, certificates: 2 },
  ]) {
    state.now = START - ms;
    for (const timer of state.timers) timer.at = state.now;
    await next();
    await until(() => (state.timers.length > 0 ? true : undefined));
    assert.equal(issued.length, certificates);
  }
  assert.ok(new X509Certificate(issued[1]?.certificate ?? '').validFromDate.getTime() < state.now);
});

test('what fails is tried again within seconds, and told once', async () => {
  let failing = true;
  const { state, issued, troubles, next } = setUp({ fails: () => failing });
  for (let turn = 0; turn < 5; turn += 1) await next();
  assert.deepEqual([issued.length, troubles], [0, ['no']]);
  failing = false;
  await next();
  assert.equal(issued.length, 1);
  assert.ok(state.now - START < 60_000);
});

test('after close nothing is issued', async () => {
  const { state, issued, kept } = setUp({});
  await until(() => (state.timers.length > 0 ? true : undefined));
  kept.close();
  assert.deepEqual([state.timers.length, issued.length], [0, 1]);
});

test('what others keep too is due as soon as any of them may think so', async () => {
  const pair = await issueServer(ROOT, ['a.test'], { now: START, lifetimeMs: 20 * HOUR });
  assert.deepEqual(
    [isDue(pair, START + 8.9 * HOUR), isDue(pair, START + 9.1 * HOUR)],
    [false, true],
  );
});
