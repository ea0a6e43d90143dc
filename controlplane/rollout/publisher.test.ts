import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXT_AUTHZ, RATELIMIT_SERVICE } from '#controlplane/compile/node-groups.ts';
import { encodeAny } from '#protos/encode.ts';
import { FILTER, FILTER_POLICY, RATE_LIMIT } from '#protos/type-url.ts';
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

/** Returns what ext-authz is published: policies and Filters of these names. */
function rules(policies: readonly string[], filters: readonly string[] = []): Snapshot {
  const of = (typeUrl: string, names: readonly string[]) =>
    names.map(name => xdsResource(name, encodeAny({ '@type': typeUrl })));
  return snapshotOf([...of(FILTER, filters), ...of(FILTER_POLICY, policies)]);
}

function servedRules(cache: SnapshotCache) {
  const namesOf = (typeUrl: string) => [...(cache.get(EXT_AUTHZ)?.get(typeUrl)?.keys() ?? [])];
  return { filters: namesOf(FILTER), policies: namesOf(FILTER_POLICY) };
}

test('rules have those from before them hold until the proxies have changed over, with their Filters', () => {
  const cache = new SnapshotCache();
  const timers = new HandTimers();
  const { changedOver, publish } = publisher(cache, timers.after);
  publish(EXT_AUTHZ, rules(['p'], ['f']));
  changedOver();
  timers.runFirst();
  assert.deepEqual(servedRules(cache), { filters: ['f'], policies: ['p'] });
  const next = rules(['q'], ['g']);
  publish(EXT_AUTHZ, next);
  assert.deepEqual(servedRules(cache), { filters: ['f', 'g'], policies: ['q', '~2'] });
  changedOver();
  publish(EXT_AUTHZ, rules([]));
  assert.deepEqual(servedRules(cache), { filters: ['f', 'g'], policies: ['~2', '~3'] });
  timers.runFirst();
  assert.deepEqual(servedRules(cache), { filters: ['g'], policies: ['~3'] });
  changedOver();
  timers.runFirst();
  assert.deepEqual(servedRules(cache), { filters: [], policies: [] });
  publish(EXT_AUTHZ, next);
  assert.equal(cache.get(EXT_AUTHZ), next, 'nothing restricted before');
});

test('after a start ext-authz goes by the rules that it had, until the proxies have changed over', () => {
  const cache = new SnapshotCache();
  const timers = new HandTimers();
  const { changedOver, publish } = publisher(cache, timers.after);
  publish(EXT_AUTHZ, rules([]));
  assert.deepEqual(servedRules(cache).policies, ['~1']);
  changedOver();
  timers.runFirst();
  assert.deepEqual(servedRules(cache).policies, []);
});

test('changes that come faster than the proxies change over add a bounded number of marks', () => {
  const cache = new SnapshotCache();
  const { publish } = publisher(cache, new HandTimers().after);
  for (let change = 0; change < 200; change++) publish(EXT_AUTHZ, rules([`p${change}`]));
  const marks = servedRules(cache).policies.filter(name => name.startsWith('~'));
  assert.deepEqual([marks.length, marks.at(0), marks.at(-1)], [128, '~1', '~128']);
});
