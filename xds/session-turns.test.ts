import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { DiscoverySession } from './discovery-session.ts';
import { snapshotOf } from './snapshot.ts';
import { SnapshotCache } from './snapshot-cache.ts';
import { HandTimers } from './testing/hand-timers.ts';
import { resource } from './testing/resources.ts';
import { INFO, SessionProxy } from './testing/session-proxy.ts';

function snapshot(content: string) {
  return snapshotOf([
    resource('edge', '1', LISTENER),
    resource('edge', content, ROUTE_CONFIGURATION),
    resource('a', content, CLUSTER),
  ]);
}

function setUp() {
  const cache = new SnapshotCache();
  const timers = new HandTimers();
  const waiting: (() => void)[] = [];
  const turn = (work: () => void) => void waiting.push(work);
  cache.set(INFO.group, snapshot('1'));
  const session = new DiscoverySession({
    ...{ group: INFO.group, cache, observer: {} },
    ...{ turn, after: timers.after },
  });
  const proxy = new SessionProxy(cache, {}, session);
  proxy.subscribeToAll();
  proxy.answerAll();
  return { cache, timers, waiting, session, proxy };
}

test('a proxy that waits for its turn is not settled, and is then sent the newest snapshot alone', () => {
  const { cache, waiting, proxy } = setUp();
  assert.equal(proxy.standing, 'settled');
  cache.set(INFO.group, snapshot('2'));
  cache.set(INFO.group, snapshot('3'));
  assert.equal(proxy.standing, 'waiting');
  assert.deepEqual([proxy.inbox.length, waiting.length], [0, 1]);
  waiting.pop()?.();
  proxy.answerAll();
  assert.deepEqual([proxy.held(CLUSTER), proxy.standing], [['a=3'], 'settled']);
});

test('a proxy that goes before its turn is left alone', () => {
  const { cache, timers, waiting, session, proxy } = setUp();
  cache.set(INFO.group, snapshot('2'));
  session.leave(proxy.stream);
  waiting.pop()?.();
  assert.deepEqual([proxy.inbox.length, timers.pending], [0, 0]);
});

test('a stage waits longer while its transport takes nothing, for a bounded time', () => {
  const { cache, timers, waiting, proxy } = setUp();
  proxy.stall();
  cache.set(INFO.group, snapshot('2'));
  waiting.pop()?.();
  assert.equal(proxy.inbox.length, 1);
  let times = 0;
  for (; proxy.session.standingOf(proxy.stream) === 'waiting' && times < 100; times += 1) {
    const { pending } = timers;
    timers.run(2_000);
    if (timers.pending < pending) break;
  }
  // Each of the two stages before the last one has its time 15 times.
  assert.equal(times + 1, 2 * 15);
});
