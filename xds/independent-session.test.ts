import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { CLUSTER, CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { IndependentSession } from './independent-session.ts';
import { PersistentMap } from './persistent-map.ts';
import { type Snapshot, snapshotOf, type XdsResource } from './snapshot.ts';
import { SnapshotCache } from './snapshot-cache.ts';
import { Random } from './testing/random.ts';
import { resource } from './testing/resources.ts';
import { INFO, SessionProxy } from './testing/session-proxy.ts';

const { group } = INFO;

test('a stream is sent each newest snapshot, whatever another one of the proxy has not ACKed', () => {
  const cache = new SnapshotCache();
  const session = new IndependentSession({ group, cache, observer: {} });
  const [quick, silent] = [
    new SessionProxy(cache, {}, session),
    new SessionProxy(cache, {}, session),
  ];
  for (const proxy of [quick, silent]) proxy.subscribe(CLUSTER, ['*']);
  assert.equal(quick.standing, 'waiting');
  for (const content of ['1', '2', '3']) {
    cache.set(group, snapshotOf([resource('b', content)]));
    quick.answerAll();
    assert.deepEqual(quick.held(CLUSTER), [`b=${content}`]);
  }
  assert.deepEqual([quick.standing, silent.standing], ['settled', 'waiting']);
  assert.equal(session.leave(silent.stream), false);
  assert.equal(session.leave(quick.stream), true);
});

test('a stream of one name is asked for its resource only when that changes', () => {
  const cache = new SnapshotCache();
  const session = new IndependentSession({ group, cache, observer: {} });
  const asked: string[] = [];
  let all = new Listed(name => asked.push(name), new PersistentMap<XdsResource>());
  const change = (changes: readonly (readonly [string, XdsResource])[]) => {
    all = new Listed(name => asked.push(name), all.with(changes));
    cache.set(group, new Map([[CLUSTER_LOAD_ASSIGNMENT, all]]));
  };
  const names = Array.from({ length: 20 }, (_, index) => `service-${index}`);
  change(names.map(name => [name, resource(name, '0', CLUSTER_LOAD_ASSIGNMENT)]));
  for (const name of names) {
    const proxy = new SessionProxy(cache, {}, session);
    proxy.subscribe(CLUSTER_LOAD_ASSIGNMENT, [name]);
    proxy.answerAll();
  }
  asked.length = 0;
  change([['service-7', resource('service-7', '1', CLUSTER_LOAD_ASSIGNMENT)]]);
  assert.deepEqual(new Set(asked), new Set(['service-7']));
});

/** Names of which `a:<anything>` is answered by way of `a`, as those of services are. */
class Listed extends PersistentMap<XdsResource> {
  readonly #onGet: (name: string) => void;

  constructor(onGet: (name: string) => void, listed: PersistentMap<XdsResource>) {
    super(listed.shards);
    this.#onGet = onGet;
  }

  override get(name: string): XdsResource | undefined {
    this.#onGet(name);
    const [base = ''] = name.split(':');
    return super.get(name) ?? super.get(base);
  }
}

const NAMES = ['a', 'b', 'c', 'a:1', 'b:1'];

const CLUSTERS = snapshotOf(NAMES.map(name => resource(name, '1')));

/** Endpoints of which some have changed, and at times clusters, which never change. */
function randomSnapshot(random: Random, before: Snapshot): Snapshot {
  const changes = random.some(NAMES, 0.3).map(name => {
    const made = resource(name, String(random.below(4)), CLUSTER_LOAD_ASSIGNMENT);
    return [name, random.chance(0.4) ? undefined : made] as const;
  });
  const known = before.get(CLUSTER_LOAD_ASSIGNMENT);
  const listed = known instanceof Listed ? known : new PersistentMap<XdsResource>();
  const all = new Listed(() => {}, listed.with(changes));
  const endpoints: Snapshot =
    all.size === 0 ? new Map() : new Map([[CLUSTER_LOAD_ASSIGNMENT, all]]);
  return random.chance(0.8) ? new Map([...endpoints, ...CLUSTERS]) : endpoints;
}

/** Some proxies with one session. */
function gateway(cache: SnapshotCache) {
  const session = new IndependentSession({ group, cache, observer: {} });
  return { session, proxies: NAMES.map(() => new SessionProxy(cache, {}, session)) };
}

/** What a random proxy does next, as something that can be done twice. */
function randomDeed(random: Random): (proxies: readonly SessionProxy[]) => void {
  const at = random.below(NAMES.length);
  const type = random.chance(0.8) ? CLUSTER_LOAD_ASSIGNMENT : CLUSTER;
  const names = random.some([...NAMES, '*'], 0.15);
  const kind = random.next();
  if (kind < 0.2) return proxies => proxies[at]?.subscribe(type, names);
  if (kind < 0.4) return proxies => proxies[at]?.unsubscribe(type, names);
  if (kind < 0.45) return proxies => proxies[at]?.stall();
  if (kind < 0.5) return proxies => proxies[at]?.drain();
  const refuse = random.chance(0.2);
  return proxies => void proxies[at]?.answer(refuse);
}

/**
 * The same deeds with a session and with one whose streams are all looked at after each change:
 * both have sent the same after each.
 */
function compare(random: Random): void {
  const cache = new SnapshotCache();
  const [one, other] = [gateway(cache), gateway(cache)];
  let snapshot: Snapshot = new Map();
  for (let step = 0; step < 100; step += 1) {
    if (random.chance(0.3)) {
      snapshot = randomSnapshot(random, snapshot);
      cache.set(group, snapshot);
      other.session.pump();
    } else {
      const deed = randomDeed(random);
      for (const { proxies } of [one, other]) deed(proxies);
    }
    for (const [at, { inbox, standing }] of one.proxies.entries()) {
      assert.deepEqual(inbox, other.proxies[at]?.inbox);
      assert.equal(standing, other.proxies[at]?.standing);
    }
  }
}

test('a stream that is not looked at at a change misses nothing', () => {
  const seeds = cases({ all: 100, quick: 25 });
  for (let seed = 1; seed <= seeds; seed += 1) compare(new Random(seed));
});
