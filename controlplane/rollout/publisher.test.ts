import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RATELIMIT_SERVICE } from '#controlplane/compile/node-groups.ts';
import { encodeAny } from '#protos/encode.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { type Snapshot, snapshotOf, xdsResource } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { publisher } from './publisher.ts';

/** Returns a RateLimit of this name, with one limit on a label of its name. */
function limit(name: string): Snapshot {
  const limits = [{ name, rate: 1, unit: 'HOUR', pattern: [{ alternatives: [{ key: name }] }] }];
  return snapshotOf([
    xdsResource(name, encodeAny({ '@type': RATE_LIMIT, domain: 'gateway', limits })),
  ]);
}

function served(cache: SnapshotCache): readonly string[] {
  const names = cache.get(RATELIMIT_SERVICE)?.get(RATE_LIMIT)?.keys() ?? [];
  return [...names].map(name => name.replace(/~.*/, '~'));
}

test('a limit that is gone stays until the proxies have changed over, and not for the changes after that', () => {
  const cache = new SnapshotCache();
  const timers = new HandTimers();
  const { changedOver, publish } = publisher(cache, timers.after);
  for (const name of ['a', 'b', 'c']) {
    publish(RATELIMIT_SERVICE, limit(name));
    changedOver();
  }
  assert.deepEqual(served(cache), ['c', 'b~', 'a~']);
  timers.runFirst();
  assert.deepEqual(served(cache), ['c', 'b~', 'a~']);
  timers.runFirst();
  assert.deepEqual(served(cache), ['c', 'b~']);
  publish(RATELIMIT_SERVICE, limit('d'));
  timers.runFirst();
  assert.deepEqual(served(cache), ['d', 'c~']);
  assert.equal(timers.pending, 0);
  changedOver();
  timers.runFirst();
  assert.deepEqual(served(cache), ['d']);
});

test('changes of proxies alone do not put off that a limit goes', () => {
  const cache = new SnapshotCache();
  const timers = new HandTimers();
  const { changedOver, publish } = publisher(cache, timers.after);
  for (const name of ['a', 'b']) publish(RATELIMIT_SERVICE, limit(name));
  changedOver();
  publish('edge', new Map());
  changedOver();
  timers.runFirst();
  assert.deepEqual(served(cache), ['b']);
});

test('a limit that comes back and goes again has a new time', () => {
  const cache = new SnapshotCache();
  const timers = new HandTimers();
  const { changedOver, publish } = publisher(cache, timers.after);
  for (const name of ['a', 'b']) publish(RATELIMIT_SERVICE, limit(name));
  changedOver();
  for (const name of ['a', 'b']) publish(RATELIMIT_SERVICE, limit(name));
  timers.runFirst();
  assert.deepEqual(served(cache), ['b', 'a~']);
});
