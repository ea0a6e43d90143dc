import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER, LISTENER } from '#protos/type-url.ts';
import { NO_RESOURCES, snapshotOf, snapshotVersion } from './snapshot.ts';
import { SnapshotCache } from './snapshot-cache.ts';
import { resource } from './testing/resources.ts';

test('the version of a snapshot is its content’s: not its order’s, not its empty types’', () => {
  const [a, b] = [resource('a', '1'), resource('b', '1', LISTENER)];
  const version = snapshotVersion(snapshotOf([a, b]));
  assert.equal(snapshotVersion(snapshotOf([b, a])), version);
  assert.equal(snapshotVersion(new Map(snapshotOf([a, b])).set('empty', NO_RESOURCES)), version);
  for (const other of [[a], [a, resource('b', '2', LISTENER)], [a, resource('b', '1')]]) {
    assert.notEqual(snapshotVersion(snapshotOf(other)), version);
  }
});

test('equal content has an equal version, other content or another type another', () => {
  assert.equal(resource('a', '1').version, resource('a', '1').version);
  assert.notEqual(resource('a', '1').version, resource('a', '2').version);
  assert.notEqual(resource('a', '1', CLUSTER).version, resource('a', '1', LISTENER).version);
});

test('watchers of a group hear of its snapshots until they stop', () => {
  const cache = new SnapshotCache();
  const heard: string[] = [];
  const stop = cache.watch('edge', snapshot => heard.push(`edge ${snapshot.size}`));
  cache.watch('other', () => heard.push('other'));
  assert.equal(cache.get('edge'), undefined);
  cache.set('edge', new Map());
  stop();
  stop();
  cache.set('edge', snapshotOf([resource('a', '1')]));
  assert.deepEqual(heard, ['edge 0']);
  assert.equal(cache.get('edge')?.size, 1);
});

test('a watcher that stops while others are told leaves these in peace', () => {
  const cache = new SnapshotCache();
  const heard: string[] = [];
  const stop = cache.watch('edge', () => stop());
  cache.watch('edge', () => heard.push('second'));
  cache.set('edge', new Map());
  assert.deepEqual(heard, ['second']);
});

test('a watcher that throws keeps no other one from hearing', () => {
  const errors: unknown[] = [];
  const cache = new SnapshotCache(error => errors.push(error));
  const heard: string[] = [];
  const mistake = new Error('a mistake');
  cache.watch('edge', () => heard.push('first'));
  cache.watch('edge', () => {
    throw mistake;
  });
  cache.watch('edge', () => heard.push('third'));
  cache.set('edge', new Map());
  assert.deepEqual([heard, errors], [['first', 'third'], [mistake]]);
});
