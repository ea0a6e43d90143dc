import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { promised } from '#envoy/e2e/promised.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { describeRedis, openedRedis } from '#redis/testing/open-redis.ts';
import { startCluster } from '#redis/testing/redis-cluster.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { until } from '#redis/testing/until.ts';
import { type CounterStore, StoreUnavailable } from '../counter-store.ts';
import { openRedisCounterStore, type RedisCounterStoreOptions } from '../redis-counter-store.ts';

const DAY = 86_400_000;

type Cleanup = { readonly after: (run: () => Promise<void>) => void };

async function openStore(t: Cleanup, url: string, options: Partial<RedisCounterStoreOptions> = {}) {
  const store = openRedisCounterStore(describeRedis(url), {
    timeoutMs: 1000,
    random: Math.random,
    now: () => performance.now(),
    ...options,
  });
  t.after(() => store.close());
  await until('the store is connected', () => store.status().connected === true);
  return store;
}

async function countOne(
  store: CounterStore,
  key: string,
  windowMs = DAY,
  add = 1,
): Promise<number> {
  const { counts } = await store.count([{ counter: 'c', group: key, windowMs, add }]);
  return counts[0] ?? Number.NaN;
}

describe('counters in Redis', { skip: whyNoRedis() ?? false }, () => {
  let server: RedisServer;
  let url: string;
  before(async () => {
    server = await startRedis();
    url = `redis://${server.address}`;
  });
  after(() => server.remove());

  /** The server's clock. */
  const timeOf = async (redis: {
    readonly send: (key: string, args: string[]) => Promise<unknown>;
  }) => {
    const time = await redis.send('', ['TIME']);
    assert.ok(Array.isArray(time));
    return Math.floor(Number(time[0]) * 1000 + Number(time[1]) / 1000);
  };

  /** Returns the only key of a store with this prefix. */
  async function onlyKey(t: Cleanup, prefix: string): Promise<string> {
    const redis = await openedRedis(t, url);
    const keys = await redis.send('', ['KEYS', `${prefix}*`]);
    assert.ok(Array.isArray(keys) && keys.length === 1);
    return String(keys[0]);
  }

  test('count each hit in its place, and 0 only looks', async t => {
    const store = await openStore(t, url);
    const hits = [0, 1, 2, 3].map(add => ({
      counter: 'c',
      group: `place${add}`,
      windowMs: DAY,
      add,
    }));
    assert.deepEqual((await store.count(hits)).counts, [0, 1, 2, 3]);
    assert.deepEqual((await store.count(hits)).counts, [0, 2, 4, 6]);
    assert.deepEqual((await store.count([])).counts, []);
  });

  test('of concurrent requests are each counted once, in the order of the requests', async t => {
    const store = await openStore(t, url);
    const requests = Array.from({ length: 1000 }, (_, index) =>
      store.count([
        { counter: 'order', group: '', windowMs: DAY, add: 1 },
        { counter: 'order', group: `${index % 7}`, windowMs: DAY, add: 1 },
      ]),
    );
    const answers = await Promise.all(requests);
    assert.deepEqual(
      answers.map(({ counts }) => counts),
      answers.map((_, index) => [index + 1, Math.floor(index / 7) + 1]),
    );
    assert.deepEqual(store.status(), { connected: true, waiting: 0 });
  });

  test('of eight processes with clocks that differ are exact in every window', async t => {
    const script = join(import.meta.dirname, '..', 'testing', 'count-in-redis.ts');
    const outputs = await Promise.all(
      [0, 1, 2, 3, 4, 5, 6, 7].map(async process_ => {
        const child = spawn(
          process.execPath,
          [script, url, '1600', '8', String(process_ * 777_777)],
          {
            stdio: ['ignore', 'pipe', 'inherit'],
          },
        );
        t.after(() => void child.kill('SIGKILL'));
        return text(child.stdout);
      }),
    );
    const seen: [number, number][] = outputs.flatMap(output => JSON.parse(output));
    const windows = Map.groupBy(seen, ([window]) => window);
    // The first and the last window may have few requests. A rate below what was counted passes
    // exactly that many.
    const busy = [...windows.values()].filter(({ length }) => length > 8);
    assert.ok(busy.length >= 2, `${busy.length} of ${windows.size} windows`);
    for (const [window, counted] of windows) {
      const counts = counted.map(([, count]) => count).sort((a, b) => a - b);
      assert.deepEqual(
        counts,
        counts.map((_, index) => index + 1),
        `window ${window}`,
      );
    }
  });

  test('end with their window, by the clock of Redis', async t => {
    const [store, redis] = await Promise.all([
      openStore(t, url, { prefix: 'end:' }),
      openedRedis(t, url),
    ]);
    await countOne(store, 'k', 3_600_000, 5);
    const key = await onlyKey(t, 'end:');
    const now = await timeOf(redis);
    const end = (Math.floor(now / 3_600_000) + 1) * 3_600_000;
    assert.equal(Number(await redis.send('', ['PEXPIRETIME', key])), end);
    await countOne(store, 'k', 3_600_000, 5);
    assert.equal(Number(await redis.send('', ['PEXPIRETIME', key])), end);
  });

  test('that a user without all rights could give no end are gone', async t => {
    const redis = await openedRedis(t, url);
    const rights = (...rules: string[]) => redis.send('', ['ACL', 'SETUSER', 'poor', ...rules]);
    await rights('on', '>word', '~*', '+@all', '-pexpireat');
    const store = await openStore(t, `redis://poor:word@${server.address}`, { prefix: 'rights:' });
    for (const _ of [1, 2]) await assert.rejects(countOne(store, 'k'), StoreUnavailable);
    await rights('+pexpireat');
    await countOne(store, 'k');
    const left = Number(await redis.send('', ['PTTL', await onlyKey(t, 'rights:')]));
    assert.ok(left > 0 && left <= DAY, `${left} ms`);
  });

  test('of the window before do not count when its end and the request meet', async t => {
    const [store, redis] = await Promise.all([
      openStore(t, url, { prefix: 'meet:' }),
      openedRedis(t, url),
    ]);
    await countOne(store, 'k');
    const key = await onlyKey(t, 'meet:');
    for (const add of [1, 0]) {
      // A window so long that it has only just begun. Redis still shows a key that belongs to the
      // window before.
      const windowMs = await timeOf(redis);
      await redis.send('', ['SET', key, '41', 'PX', '5000']);
      assert.equal(await countOne(store, 'k', windowMs, add), add);
    }
  });

  test('that would outlive their window begin again', async t => {
    const [store, redis] = await Promise.all([
      openStore(t, url, { prefix: 'outlive:' }),
      openedRedis(t, url),
    ]);
    await countOne(store, 'k');
    const key = await onlyKey(t, 'outlive:');
    // What a server leaves whose clock was set back by two days, and a restored key without an end.
    for (const end of [['PX', String(2 * DAY)], []])
      for (const add of [1, 0]) {
        await redis.send('', ['SET', key, '41', ...end]);
        assert.equal(await countOne(store, 'k', DAY, add), add);
      }
    await redis.send('', ['SET', key, '41', 'PX', String(DAY)]);
    assert.equal(await countOne(store, 'k'), 42, 'a key of this window stays');
  });

  test('saturate', async t => {
    const store = await openStore(t, url, { prefix: 'saturate:' });
    const most = Number.MAX_SAFE_INTEGER;
    assert.equal(await countOne(store, 'k', DAY, most - 1), most - 1);
    for (const add of [1, 1, 2 ** 32, most, 2 ** 64, 0])
      assert.equal(await countOne(store, 'k', DAY, add), most);
    const redis = await openedRedis(t, url);
    assert.ok(Number(await redis.send('', ['PTTL', await onlyKey(t, 'saturate:')])) > 0);
  });

  test('show nothing of what clients sent, and tell odd keys apart', async t => {
    const [store, redis] = await Promise.all([
      openStore(t, url, { prefix: 'odd:' }),
      openedRedis(t, url),
    ]);
    const odd = [
      '',
      'remote_address=10.1.2.3',
      '__proto__',
      '\ud800',
      '\ud801',
      '{x}',
      '\0',
      'x'.repeat(1e6),
    ];
    assert.deepEqual(
      await Promise.all(odd.map(key => countOne(store, key))),
      odd.map(() => 1),
    );
    const keys = await redis.send('', ['KEYS', 'odd:*']);
    assert.ok(Array.isArray(keys) && keys.length === odd.length);
    for (const key of keys) assert.match(String(key), /^odd:\{[A-Za-z0-9_-]{43}\}$/);
  });

  test('in a Redis that hangs are unavailable in time, at most so many wait, and they are back within a second', async t => {
    const own = await startRedis();
    t.after(own.remove);
    const store = await openStore(t, `redis://${own.address}`, { timeoutMs: 200, maxWaiting: 500 });
    assert.equal(await countOne(store, 'k'), 1);
    own.signal('SIGSTOP');
    const calls = Array.from({ length: 10_000 }, () =>
      countOne(store, 'k').catch((error: unknown) => error),
    );
    assert.equal(store.status().waiting, 500);
    for (const error of await Promise.all(calls)) assert.ok(error instanceof StoreUnavailable);
    assert.equal(store.status().waiting, 0);
    own.signal('SIGCONT');
    let tries = 0;
    await until(
      'it counts again',
      () => {
        tries += 1;
        return countOne(store, 'k').then(
          () => true,
          () => false,
        );
      },
      promised(1000),
    );
    // The requests that were sent have been counted, and nothing else.
    assert.ok((await countOne(store, 'k')) <= 1 + 500 + tries + 1);
  });

  test('in a Redis that was killed begin again', async t => {
    const own = await startRedis();
    t.after(own.remove);
    const store = await openStore(t, `redis://${own.address}`);
    await countOne(store, 'k');
    await own.kill();
    await until('it is unavailable', () => store.status().connected === false);
    await assert.rejects(countOne(store, 'k'), StoreUnavailable);
    await own.start();
    await until('it is back', () => store.status().connected === true);
    assert.equal(await countOne(store, 'k'), 1);
  });

  test('of a store that is closed are unavailable, after what waited has been counted', async t => {
    const store = await openStore(t, url);
    const last = countOne(store, 'last');
    await store.close();
    assert.equal(await last, 1);
    await assert.rejects(countOne(store, 'k'), StoreUnavailable);
  });

  test('that are too many for its memory: the least used go, a client over its rate stays over it', async t => {
    const own = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lfu'] });
    t.after(own.remove);
    const [store, redis] = await Promise.all([
      openStore(t, `redis://${own.address}`),
      openedRedis(t, `redis://${own.address}`),
    ]);
    await store.look?.();
    const { usedBytes = 0 } = store.status().memory ?? {};
    await redis.send('', ['CONFIG', 'SET', 'maxmemory', `${usedBytes + 1_000_000}`]);
    for (let round = 0; round < 100; round += 1) {
      const counted = await Promise.all([
        ...Array.from({ length: 200 }, (_, at) => countOne(store, `flood${round * 200 + at}`)),
        ...Array.from({ length: 5 }, () => countOne(store, 'greedy')),
      ]);
      assert.deepEqual(
        counted.slice(200),
        [1, 2, 3, 4, 5].map(count => round * 5 + count),
      );
    }
    await store.look?.();
    const { memory } = store.status();
    assert.ok(
      (memory?.evicted ?? 0) > 1_000 && memory?.evictedAgoMs !== undefined,
      JSON.stringify(memory),
    );
    assert.ok((memory?.usedBytes ?? 0) < usedBytes + 1_500_000, JSON.stringify(memory));
  });

  test('in a Redis that is full and evicts nothing are unavailable, and say why', async t => {
    const own = await startRedis({
      args: ['--maxmemory', '1', '--maxmemory-policy', 'noeviction'],
    });
    t.after(own.remove);
    const store = await openStore(t, `redis://${own.address}`);
    await assert.rejects(countOne(store, 'k'), (error: Error) => {
      assert.ok(error instanceof StoreUnavailable);
      return error.message === 'Redis: its memory is full';
    });
    await store.look?.();
    assert.equal(store.status().memory?.policy, 'noeviction');
  });

  test('in a Redis that answers and does not count: two looks tell why, and one that it does again', async t => {
    const own = await startRedis();
    t.after(own.remove);
    const [store, redis] = await Promise.all([
      openStore(t, `redis://${own.address}`),
      openedRedis(t, `redis://${own.address}`),
    ]);
    const faultAfterLook = async () => {
      await store.look?.();
      return store.status().fault;
    };
    assert.equal(await faultAfterLook(), undefined);
    for (const [refuse, allow, fault] of [
      ['-evalsha', '+evalsha', 'Redis: the user may not run this command, or not on this key'],
      ['resetkeys', '~*', 'Redis: the user may not run this command, or not on this key'],
    ] as const) {
      await redis.send('', ['ACL', 'SETUSER', 'default', refuse]);
      await assert.rejects(countOne(store, 'k'), StoreUnavailable);
      assert.equal(await faultAfterLook(), undefined, 'it may be once');
      assert.equal(await faultAfterLook(), fault);
      assert.equal(store.status().connected, true);
      await redis.send('', ['ACL', 'SETUSER', 'default', allow]);
      assert.equal(await faultAfterLook(), undefined);
    }
  });

  test('in a cluster are exact too, each on its node', async t => {
    const cluster = await startCluster();
    t.after(cluster.remove);
    const stores = await Promise.all(
      cluster.masters.map(({ address }) => openStore(t, `redis-cluster://${address}`)),
    );
    const hits = Array.from({ length: 10 }, (_, index) => ({
      counter: 'k',
      group: `${index}`,
      windowMs: DAY,
      add: index,
    }));
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) => stores[index % 3]?.count(hits)),
    );
    for (const { add, group } of hits.slice(1)) {
      const counts = answers.map(answer => answer?.counts[add] ?? Number.NaN).sort((a, b) => a - b);
      assert.deepEqual(
        counts,
        counts.map((_, index) => add * (index + 1)),
        group,
      );
    }
    assert.ok(Math.abs((answers[0]?.now ?? 0) - Date.now()) < 60_000);
    assert.deepEqual((await stores[0]?.count([]))?.counts, []);
  });

  test('in a Redis with the slots of a cluster behind one address are exact after its first refusal', async t => {
    const own = await startRedis(async () => ({
      args: ['--cluster-enabled', 'yes', '--cluster-port', `${await freePort()}`],
    }));
    t.after(own.remove);
    const redis = await openedRedis(t, `redis://${own.address}`);
    await redis.send('', ['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
    await until('it has all slots', async () =>
      String(await redis.send('', ['CLUSTER', 'INFO'])).includes('cluster_state:ok'),
    );
    const store = await openStore(t, `redis://${own.address}`);
    const both = () => Promise.all(['a', 'b'].map(key => countOne(store, key)));
    await assert.rejects(both(), StoreUnavailable);
    assert.deepEqual(
      [await both(), await both()],
      [
        [1, 1],
        [2, 2],
      ],
    );
    await store.look?.();
    await store.look?.();
    assert.equal(store.status().fault, undefined);
  });

  test('in a node of a cluster that is taken for a whole Redis: two looks tell it, whatever slots the node has', async t => {
    const cluster = await startCluster();
    t.after(cluster.remove);
    for (const { address } of cluster.masters) {
      const store = await openStore(t, `redis://${address}`);
      await store.look?.();
      await store.look?.();
      assert.equal(
        store.status().fault,
        'Redis: another node of its cluster has the key (redis-cluster in REDIS_URL)',
      );
    }
  });
});
