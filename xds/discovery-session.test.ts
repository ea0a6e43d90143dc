import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  LISTENER,
  ROUTE_CONFIGURATION,
} from '#protos/type-url.ts';
import type { Nack } from './discovery-observer.ts';
import { KEPT_MS, MOST_KEPT } from './kept.ts';
import { NO_RESOURCES, type Snapshot, snapshotOf } from './snapshot.ts';
import { SnapshotCache } from './snapshot-cache.ts';
import { Random } from './testing/random.ts';
import { resource } from './testing/resources.ts';
import { INFO, SessionProxy } from './testing/session-proxy.ts';

/** A listener, its route to `routes`, and these clusters. */
function snapshot(routes: string, clusters: Readonly<Record<string, string>>): Snapshot {
  return snapshotOf([
    resource('edge', '1', LISTENER),
    resource('edge', routes, ROUTE_CONFIGURATION),
    ...Object.entries(clusters).map(([name, content]) => resource(name, content)),
  ]);
}

/** A proxy that has the snapshot with its one cluster `a`. */
function settled() {
  const cache = new SnapshotCache();
  cache.set(INFO.group, snapshot('a', { a: '1' }));
  const nacks: Nack[] = [];
  const reached: Snapshot[] = [];
  const proxy = new SessionProxy(cache, {
    nacked: (_stream, nack) => nacks.push(nack),
    settled: (_stream, target) => reached.push(target),
  });
  proxy.subscribeToAll();
  proxy.answerAll();
  proxy.timers.run(KEPT_MS);
  return { cache, proxy, nacks, reached };
}

describe('the way to a new snapshot', () => {
  test('before its group has a snapshot a proxy is sent nothing', () => {
    const cache = new SnapshotCache();
    const proxy = new SessionProxy(cache);
    proxy.subscribeToAll();
    assert.deepEqual(proxy.inbox, []);
    assert.equal(proxy.standing, 'waiting');
    cache.set(INFO.group, snapshot('a', { a: '1' }));
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['a=1']);
    assert.equal(proxy.standing, 'settled');
  });

  test('a new proxy gets listeners and routes after it has ACKed its clusters', () => {
    const cache = new SnapshotCache();
    cache.set(INFO.group, snapshot('a', { a: '1' }));
    const proxy = new SessionProxy(cache);
    proxy.subscribeToAll();
    const order = [];
    for (let next = proxy.answer(); next !== undefined; next = proxy.answer())
      order.push(next.type_url);
    assert.deepEqual(order, [CLUSTER, LISTENER, ROUTE_CONFIGURATION]);
  });

  test('a swap of clusters adds, switches, and only then removes, each after the ACK of the one before', () => {
    const { cache, proxy } = settled();
    cache.set(INFO.group, snapshot('b', { b: '1' }));
    assert.deepEqual(
      proxy.inbox.map(({ type_url }) => type_url),
      [CLUSTER],
    );
    proxy.answer();
    assert.deepEqual(proxy.held(CLUSTER), ['a=1', 'b=1']);
    assert.deepEqual(
      proxy.inbox.map(({ type_url }) => type_url),
      [ROUTE_CONFIGURATION],
    );
    proxy.answer();
    proxy.timers.run(KEPT_MS);
    assert.deepEqual(
      proxy.inbox.map(({ removed_resources }) => removed_resources),
      [['a']],
    );
    proxy.answer();
    assert.deepEqual(proxy.held(CLUSTER), ['b=1']);
    assert.deepEqual(proxy.inbox, []);
  });

  test('the change is through while the proxy keeps what requests on their way may need', () => {
    const { cache, proxy, reached } = settled();
    const next = snapshot('b', { b: '1' });
    cache.set(INFO.group, next);
    proxy.answerAll();
    assert.deepEqual([proxy.standing, reached.at(-1)], ['settled', next]);
    assert.deepEqual(proxy.held(CLUSTER), ['a=1', 'b=1']);
  });

  test('each removed cluster has its own time, which no later change prolongs', () => {
    const { cache, proxy } = settled();
    for (const name of ['b', 'c']) {
      cache.set(INFO.group, snapshot(name, { [name]: '1' }));
      proxy.answerAll();
    }
    assert.deepEqual(proxy.held(CLUSTER), ['a=1', 'b=1', 'c=1']);
    assert.deepEqual(proxy.timers.pending, 2);
    proxy.timers.runFirst();
    cache.set(INFO.group, snapshot('d', { d: '1' }));
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['b=1', 'c=1', 'd=1']);
    proxy.timers.runFirst();
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['c=1', 'd=1']);
  });

  test('a kept cluster that comes back is the new one, and stays', () => {
    const { cache, proxy } = settled();
    cache.set(INFO.group, snapshot('b', { b: '1' }));
    proxy.answerAll();
    cache.set(INFO.group, snapshot('a', { a: '2' }));
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['a=2', 'b=1']);
    proxy.timers.run();
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['a=2']);
  });

  test('the endpoints of a kept cluster are kept with it', () => {
    const { cache, proxy } = settled();
    const withEndpoints = (name: string) =>
      new Map([
        ...snapshot(name, { [name]: '1' }),
        ...snapshotOf([resource(name, '1', CLUSTER_LOAD_ASSIGNMENT)]),
      ]);
    proxy.subscribe(CLUSTER_LOAD_ASSIGNMENT, ['b', 'c']);
    for (const name of ['b', 'c']) {
      cache.set(INFO.group, withEndpoints(name));
      proxy.answerAll();
    }
    assert.deepEqual(proxy.held(CLUSTER_LOAD_ASSIGNMENT), ['b=1', 'c=1']);
    proxy.timers.run();
    proxy.answerAll();
    assert.ok(!proxy.held(CLUSTER_LOAD_ASSIGNMENT).includes('b=1'));
  });

  test('changes without an end keep a bounded number of clusters, and the last change’s in any case', () => {
    const { cache, proxy } = settled();
    const many = (round: number) =>
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`c${round}-${index}`, '1']));
    for (let round = 0; round < 10; round += 1) {
      cache.set(INFO.group, snapshot(`c${round}-0`, many(round)));
      proxy.answerAll();
    }
    assert.ok(proxy.held(CLUSTER).length <= 300 + MOST_KEPT, `${proxy.held(CLUSTER).length}`);
    assert.ok(proxy.held(CLUSTER).includes('c8-299=1'));
  });

  test('a change of routes alone is sent at once', () => {
    const { cache, proxy } = settled();
    cache.set(INFO.group, snapshot('a a', { a: '1' }));
    assert.deepEqual(
      proxy.inbox.map(({ type_url }) => type_url),
      [ROUTE_CONFIGURATION],
    );
  });

  test('a proxy that is stuck goes on when the time of each stage is up', () => {
    const { cache, proxy } = settled();
    cache.set(INFO.group, snapshot('b', { b: '1' }));
    proxy.timers.run();
    assert.deepEqual(
      proxy.inbox.map(({ type_url }) => type_url),
      [CLUSTER, ROUTE_CONFIGURATION],
    );
    proxy.timers.run();
    proxy.timers.run();
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['b=1']);
  });

  test('of the snapshots that come while one is on its way only the newest is sent', () => {
    const { cache, proxy } = settled();
    for (const name of ['b', 'c', 'd']) cache.set(INFO.group, snapshot(name, { [name]: '1' }));
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['a=1', 'b=1', 'd=1']);
    assert.deepEqual(proxy.held(ROUTE_CONFIGURATION), ['edge=d']);
  });

  test('changes that come faster than ACKs do not keep routes from moving', () => {
    const { cache, proxy } = settled();
    for (let i = 0; i < 20; i += 1) {
      cache.set(INFO.group, snapshot(`c${i}`, { [`c${i}`]: '1' }));
      proxy.answer();
    }
    assert.notDeepEqual(proxy.held(ROUTE_CONFIGURATION), ['edge=a']);
    proxy.answerAll();
    proxy.timers.run(KEPT_MS);
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['c19=1']);
  });

  test('settled is told once of each snapshot that was reached', () => {
    const { cache, proxy, reached } = settled();
    assert.deepEqual(reached, [cache.get(INFO.group)]);
    const next = snapshot('b', { b: '1' });
    cache.set(INFO.group, next);
    proxy.answerAll();
    proxy.subscribe(ROUTE_CONFIGURATION, ['edge']);
    proxy.answerAll();
    assert.deepEqual(reached.slice(1), [next]);
  });

  test('a proxy that has gone is left alone', () => {
    const { cache, proxy } = settled();
    proxy.session.leave(proxy.stream);
    cache.set(INFO.group, snapshot('b', { b: '1' }));
    assert.deepEqual(proxy.inbox, []);
    assert.equal(proxy.timers.pending, 0);
  });
});

describe('a refusal', () => {
  test('stops the proxy where it is, with what it has in force', () => {
    const { cache, proxy, nacks } = settled();
    const bad = snapshot('b', { b: 'bad' });
    cache.set(INFO.group, bad);
    proxy.answer(true);
    assert.deepEqual(nacks, [{ typeUrl: CLUSTER, target: bad, names: ['b'], message: 'no' }]);
    assert.equal(proxy.standing, 'rejected');
    assert.equal(proxy.timers.pending, 0);
    assert.deepEqual(proxy.inbox, []);
  });

  test('ends when the same snapshot is set once more and taken then', () => {
    const { cache, proxy, nacks } = settled();
    const next = snapshot('b', { b: '1' });
    cache.set(INFO.group, next);
    proxy.answer(true);
    cache.set(INFO.group, next);
    proxy.answer(true);
    assert.deepEqual(proxy.inbox, [], 'once');
    cache.set(INFO.group, next);
    proxy.answerAll();
    assert.equal(nacks.length, 2);
    assert.deepEqual([proxy.held(CLUSTER), proxy.standing], [['a=1', 'b=1'], 'settled']);
  });

  test('of clusters gives way to a newer snapshot at once, and what was rejected is not carried on', () => {
    const { cache, proxy } = settled();
    cache.set(INFO.group, snapshot('b', { b: 'bad', c: '1' }));
    proxy.answer(true);
    cache.set(INFO.group, snapshot('c', { c: '1' }));
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['a=1', 'c=1']);
    assert.deepEqual(proxy.held(ROUTE_CONFIGURATION), ['edge=c']);
  });

  test('gives way to a newer snapshot that came before it', () => {
    const { cache, proxy } = settled();
    cache.set(INFO.group, snapshot('b', { b: 'bad' }));
    cache.set(INFO.group, snapshot('c', { c: '1' }));
    proxy.answer(true);
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['a=1', 'c=1']);
  });

  test('of routes gives way to a newer snapshot', () => {
    const { cache, proxy } = settled();
    cache.set(INFO.group, snapshot('bad b', { b: '1' }));
    proxy.answer();
    proxy.answer(true);
    cache.set(INFO.group, snapshot('a', { a: '1' }));
    proxy.answerAll();
    assert.deepEqual(proxy.held(ROUTE_CONFIGURATION), ['edge=a']);
    assert.equal(proxy.standing, 'settled');
    proxy.timers.run(KEPT_MS);
    proxy.answerAll();
    assert.deepEqual(proxy.held(CLUSTER), ['a=1']);
  });

  test('of its first listeners leaves a new proxy without them, never with an empty list', () => {
    const cache = new SnapshotCache();
    cache.set(INFO.group, snapshot('a', { a: '1' }));
    const proxy = new SessionProxy(cache);
    proxy.subscribe(CLUSTER, ['*']);
    proxy.subscribe(LISTENER, ['*'], { old: '1' });
    proxy.answer();
    proxy.answer(true);
    cache.set(INFO.group, snapshot('b', { b: '1' }));
    for (const { type_url, removed_resources } of proxy.inbox) {
      if (type_url === LISTENER) assert.deepEqual(removed_resources, []);
    }
  });
});

describe('a proxy that comes back', () => {
  const current = snapshot('b', { b: '1' });
  const versionOf = (typeUrl: string, name: string) =>
    current.get(typeUrl)?.get(name)?.version ?? '';

  function comesBack(clusters: Readonly<Record<string, string>>) {
    const cache = new SnapshotCache();
    cache.set(INFO.group, current);
    const proxy = new SessionProxy(cache);
    proxy.subscribe(CLUSTER, ['*'], clusters);
    return { cache, proxy };
  }

  test('with everything is sent nothing, and is settled at once', () => {
    const { proxy } = comesBack({ b: versionOf(CLUSTER, 'b') });
    proxy.subscribe(LISTENER, ['*'], { edge: versionOf(LISTENER, 'edge') });
    proxy.subscribe(ROUTE_CONFIGURATION, ['edge'], {
      edge: versionOf(ROUTE_CONFIGURATION, 'edge'),
    });
    assert.deepEqual(proxy.inbox, []);
    assert.equal(proxy.standing, 'settled');
  });

  test('with older routes is through at once, and keeps the clusters that requests may hold', () => {
    const { proxy } = comesBack({ a: '1', b: versionOf(CLUSTER, 'b') });
    proxy.subscribe(LISTENER, ['*'], { edge: versionOf(LISTENER, 'edge') });
    proxy.subscribe(ROUTE_CONFIGURATION, ['edge'], { edge: 'older' });
    assert.deepEqual(
      proxy.inbox.map(({ type_url }) => type_url),
      [ROUTE_CONFIGURATION],
    );
    proxy.answerAll();
    assert.deepEqual([proxy.standing, proxy.timers.pending], ['settled', 1]);
    proxy.timers.run();
    assert.deepEqual(
      proxy.inbox.map(({ removed_resources }) => removed_resources),
      [['a']],
    );
  });

  test('keeps them through the changes that come meanwhile', () => {
    const { cache, proxy } = comesBack({ a: '1', b: versionOf(CLUSTER, 'b') });
    proxy.subscribe(LISTENER, ['*'], { edge: versionOf(LISTENER, 'edge') });
    proxy.subscribe(ROUTE_CONFIGURATION, ['edge'], { edge: 'older' });
    proxy.answerAll();
    cache.set(INFO.group, snapshot('c', { c: '1' }));
    const removed = [];
    for (let next = proxy.answer(); next !== undefined; next = proxy.answer())
      removed.push(...next.removed_resources);
    assert.deepEqual(removed, []);
    proxy.timers.runFirst();
    assert.deepEqual(proxy.answer()?.removed_resources, ['a']);
  });

  test('with another listener keeps it when it refuses the one in its place, although it tells of listeners last', () => {
    const { proxy } = comesBack({ b: versionOf(CLUSTER, 'b') });
    proxy.subscribe(LISTENER, ['*'], { other: '1' });
    const sent = proxy.answer(true);
    assert.deepEqual(
      [sent?.resources.map(({ name }) => name), sent?.removed_resources],
      [['edge'], []],
    );
    assert.deepEqual([proxy.inbox, proxy.timers.pending], [[], 0]);
  });

  test('goes on to a newer snapshot when that time is up', () => {
    const { cache, proxy } = comesBack({ a: '1', b: versionOf(CLUSTER, 'b') });
    cache.set(INFO.group, snapshot('c', { c: '1' }));
    proxy.timers.run();
    proxy.subscribe(LISTENER, ['*'], { edge: versionOf(LISTENER, 'edge') });
    proxy.subscribe(ROUTE_CONFIGURATION, ['edge'], { edge: 'older' });
    proxy.answerAll();
    assert.deepEqual(proxy.held(ROUTE_CONFIGURATION), ['edge=c']);
    assert.deepEqual(proxy.held(CLUSTER), ['c=1']);
  });
});

test('nothing is written while the transport is full; then the newest is', () => {
  const { cache, proxy } = settled();
  proxy.stall();
  cache.set(INFO.group, snapshot('a', { a: '2' }));
  proxy.answer();
  for (const content of ['3', '4', '5']) cache.set(INFO.group, snapshot('a', { a: content }));
  assert.deepEqual(proxy.inbox, []);
  proxy.drain();
  proxy.answerAll();
  assert.deepEqual(proxy.held(CLUSTER), ['a=5']);
});

/** What a proxy has ACKed of routes, and so what a request may hold. */
function clustersOfRoutes(proxy: SessionProxy): readonly string[] {
  const routes = proxy.holds.get(ROUTE_CONFIGURATION)?.get('edge') ?? '';
  return routes.split(' ').slice(1);
}

test('no request ever holds a route to a cluster that the proxy has not, whatever changes, is late or is rejected', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const seeds = cases({ all: 500, quick: 100 });
  for (let seed = 1; seed <= seeds; seed += 1) {
    const random = new Random(seed);
    const { cache, proxy } = settled();
    const held = new Set<string>();
    const check = () => {
      for (const name of clustersOfRoutes(proxy)) held.add(name);
      const clusters = proxy.holds.get(CLUSTER) ?? new Map();
      for (const name of held) {
        assert.ok(clusters.has(name), `seed ${seed}: a request for ${name} without its cluster`);
      }
    };
    const next = (contents: readonly string[]) => {
      const used = random.some(names, 0.3);
      const clusters = [...used, ...random.some(names, 0.2)].map(name => [
        name,
        random.pick(contents) ?? '',
      ]);
      cache.set(
        INFO.group,
        snapshot([random.pick(contents), ...used].join(' '), Object.fromEntries(clusters)),
      );
    };
    for (let step = 0; step < 60; step += 1) {
      if (random.chance(0.3)) next(['1', '2']);
      const refusable = (proxy.inbox[0]?.resources.length ?? 0) > 0;
      if (random.chance(0.6)) proxy.answer(refusable && random.chance(0.1));
      check();
    }
    next(['not-rejected-before']);
    for (let left = 50; left > 0 && proxy.answer() !== undefined; left -= 1) check();
    proxy.timers.run(KEPT_MS);
    proxy.answerAll();
    const clusters = cache.get(INFO.group)?.get(CLUSTER) ?? NO_RESOURCES;
    assert.deepEqual(
      [...(proxy.holds.get(CLUSTER) ?? new Map()).keys()].sort(),
      [...clusters.keys()].sort(),
      `seed ${seed}`,
    );
  }
});
