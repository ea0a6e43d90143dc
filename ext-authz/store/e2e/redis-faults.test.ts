import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openedRedis } from '#redis/testing/open-redis.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { until } from '#redis/testing/until.ts';
import { type RecordStore, StoreUnavailable } from '../record-store.ts';
import { RedisRecordStore } from '../redis-record-store.ts';
import { storeFault } from '../store-fault.ts';
import { bytes, freshKey, MINUTE, textOf } from '../testing/test-stores.ts';

type Test = { readonly after: (run: () => Promise<void>) => void };

const skip = whyNoRedis() ?? false;
/**
 * The timeout of stores that lose their Redis. It is long enough for one that shares its machine.
 */
const TIMEOUT_MS = 1000;

describe('a Redis with records', { skip, concurrency: true }, () => {
  test('that is killed refuses at once, and serves again when it is back', async t => {
    const { server, store } = await opened(t, TIMEOUT_MS);
    await server.kill();
    await assertRefused(store);
    await server.start();
    await until('it answers', () => answers(store));
    assert.equal(await store.create('key', bytes('v'), MINUTE, [{ name: 'g', most: 1 }]), true);
    assert.equal(textOf(await store.take('key')), 'v');
  });

  test('that hangs refuses in time, and serves again when it goes on', async t => {
    const { server, store } = await opened(t, TIMEOUT_MS);
    await store.create('kept', bytes('v'), MINUTE);
    server.signal('SIGSTOP');
    await assertRefused(store);
    server.signal('SIGCONT');
    await until('it answers', () => answers(store));
    assert.equal(textOf(await store.take('kept')), 'v');
  });

  test('that hangs while a record is made refuses in time', async t => {
    const { server, store } = await opened(t, TIMEOUT_MS);
    await Promise.all(
      [1, 2].map(() => store.create(freshKey(), bytes('v'), MINUTE, [{ name: 'g', most: 1 }])),
    );
    const making = store.create(freshKey(), bytes('v'), MINUTE, [{ name: 'g', most: 1 }]);
    server.signal('SIGSTOP');
    const begin = performance.now();
    await making.catch((error: unknown) => assert.ok(error instanceof StoreUnavailable));
    assert.ok(performance.now() - begin < 3 * TIMEOUT_MS);
    server.signal('SIGCONT');
  });

  test('that was flushed has no records and no scripts, and works', async t => {
    const { redis, store } = await opened(t);
    await store.create('key', bytes('v'), MINUTE);
    await redis.send('', ['FLUSHALL']);
    await redis.send('', ['SCRIPT', 'FLUSH']);
    assert.equal(await store.read('key'), undefined);
    assert.equal(await store.remove('key'), false);
    assert.equal(await store.create('key', bytes('w'), MINUTE, [{ name: 'g', most: 1 }]), true);
    assert.equal(textOf(await store.take('key')), 'w');
  });

  test('whose memory is full refuses writes, not reads', async t => {
    const { redis, store } = await opened(t);
    await store.create('key', bytes('v'), MINUTE);
    await redis.send('', ['CONFIG', 'SET', 'maxmemory', '1']);
    await assert.rejects(store.create('other', bytes('v'), MINUTE), {
      name: 'StoreUnavailable',
      message: 'Redis: its memory is full',
    });
    assert.equal(textOf((await store.read('key'))?.value), 'v');
    const fault = { reason: 'Redis: its memory is full', isRead: true };
    assert.deepEqual(await storeFault(store, async () => {}), fault);
  });

  test('whose memory is nearly full is told with its policy', async t => {
    const { redis, store } = await opened(t);
    const fault = () => storeFault(store, () => assert.fail());
    await redis.send('', ['CONFIG', 'SET', 'maxmemory', '1gb']);
    assert.equal(await fault(), undefined);
    const [, used] = /used_memory:(\d+)/.exec(String(await redis.send('', ['INFO']))) ?? [];
    await redis.send('', ['CONFIG', 'SET', 'maxmemory', String(Math.round(Number(used) * 1.2))]);
    for (const [policy, then] of [
      ['noeviction', 'when it is full no login begins'],
      [
        'volatile-lru',
        'with maxmemory-policy volatile-lru logins are lost when it is full. Set noeviction',
      ],
    ] as const) {
      await redis.send('', ['CONFIG', 'SET', 'maxmemory-policy', policy]);
      const reason = `Redis: 80 % of its maxmemory are in use, and ${then}`;
      assert.deepEqual(await fault(), { reason, isRead: true, isWritten: true });
    }
  });

  test('keys that another program wrote are not records', async t => {
    const { redis, store } = await opened(t);
    for (const foreign of ['', 'text', '.', 'a.b.c.d'])
      assert.equal(await absent(foreign), true, foreign);

    async function absent(foreign: string): Promise<boolean> {
      await redis.send('', ['SET', 'gateway:ext-authz:record:key', foreign]);
      const read = await store.read('key');
      return read === undefined && (await store.take('key')) === undefined;
    }
  });

  test('stays as small as its bounds while an unknown client begins 5,000 logins', async t => {
    const { redis, store } = await opened(t);
    const begin = (index: number) =>
      store.create(freshKey(), bytes('v'), 10 * MINUTE, [
        { name: freshKey(), most: 16 },
        { name: `client ${index % 20}`, most: 10 },
        { name: 'gateway', most: 100 },
      ]);
    // Redis answers what comes together only when it has done all of it.
    for (let round = 0; round < 250; round += 1)
      await Promise.all(Array.from({ length: 20 }, (_, index) => begin(index)));
    const most = 100 + 100 + 20 + 1;
    await until(
      'only what is bounded is left',
      async () => Number(await redis.send('', ['DBSIZE'])) <= most,
    );
    const list = await redis.send('', ['KEYS', '*:record:*']);
    assert.equal(Array.isArray(list) && list.length, 100);
  });

  test('gives every key an end', async t => {
    const { redis, store } = await opened(t);
    await store.create('key', bytes('v'), MINUTE, [{ name: 'g', most: 5 }]);
    await store.create('short', bytes('v'), 20_000, [{ name: 'g', most: 5 }]);
    await store.acquire('key', 'holder', MINUTE);
    await store.count('key', 1, MINUTE);
    await store.count('key', Number.MAX_SAFE_INTEGER, MINUTE);
    const { version = '' } = (await store.read('key')) ?? {};
    assert.equal(await store.replace('key', version, bytes('w'), MINUTE), true);
    const keys = await redis.send('', ['KEYS', '*']);
    assert.ok(Array.isArray(keys) && keys.length === 5);
    for (const key of keys) {
      const left = Number(await redis.send('', ['PTTL', String(key)]));
      assert.ok(
        left > (String(key).endsWith('short') ? 0 : 20_000) && left <= MINUTE,
        `${key}: ${left}`,
      );
    }
  });

  test('from which a large group is removed has room for other calls meanwhile', async t => {
    const { store } = await opened(t, 10_000, 300);
    const group = { name: 'g', most: 1_000 };
    for (let made = 0; made < 600; made += 1)
      await store.create(`key${made}`, bytes('v'), MINUTE, [group]);
    const [removed, other] = await Promise.all([
      store.removeGroup('g'),
      store.count('c', 1, MINUTE),
    ]);
    assert.deepEqual([removed, other], [600, 1]);
  });

  async function opened(t: Test, timeoutMs = 10_000, maxWaiting = 10_000) {
    const server: RedisServer = await startRedis();
    t.after(server.remove);
    const redis = await openedRedis(t, `redis://${server.address}`, { timeoutMs, maxWaiting });
    return { server, redis, store: new RedisRecordStore(redis) };
  }

  function answers(store: RecordStore): Promise<boolean> {
    return store.count('looked at', 0, MINUTE).then(
      () => true,
      () => false,
    );
  }

  /** Every method rejects with StoreUnavailable, without any of the arguments. */
  async function assertRefused(store: RecordStore): Promise<void> {
    const secret = freshKey();
    const begin = performance.now();
    const results = await Promise.allSettled([
      store.read(secret),
      store.create(secret, bytes(secret), MINUTE),
      store.create(secret, bytes(secret), MINUTE, [{ name: secret, most: 1 }]),
      store.replace(secret, secret, bytes(secret), MINUTE),
      store.take(secret),
      store.remove(secret),
      store.acquire(secret, secret, MINUTE),
      store.release(secret, secret),
      store.count(secret, 1, MINUTE),
      store.windowLeft(secret, MINUTE),
    ]);
    assert.ok(performance.now() - begin < 3 * TIMEOUT_MS, `${performance.now() - begin} ms`);
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable);
      assert.equal(`${result.reason.message} ${result.reason.stack}`.includes(secret), false);
    }
  }
});
