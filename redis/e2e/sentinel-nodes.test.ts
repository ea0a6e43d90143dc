import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { script } from '../script.ts';
import { openedRedis, openRedis } from '../testing/open-redis.ts';
import { type RedisSentinels, startSentinels } from '../testing/redis-sentinel.ts';
import { startRedis, whyNoRedis } from '../testing/redis-server.ts';
import { until } from '../testing/until.ts';

describe('Redis behind sentinels', { skip: whyNoRedis() ?? false }, () => {
  let redises: RedisSentinels;
  before(async () => {
    redises = await startSentinels();
  });
  after(() => redises.remove());

  test('of which none knows the master is not connected, and says so', async t => {
    const { redis } = openRedis(t, `redis-sentinel://${redises.addresses}/nobody`);
    const reason = 'no sentinel knows the master "nobody"';
    await until('it is told', () => redis.status().reason === reason);
  });

  test('that refuse us are no servers, and it says why', async t => {
    const guarded = await startRedis({ args: ['--requirepass', 'word'] });
    t.after(guarded.remove);
    const { redis } = openRedis(t, `redis-sentinel://${guarded.address}/${redises.masterName}`);
    const reason = 'no sentinel is connected: it wants a password';
    await until('it is told', () => redis.status().reason === reason);
  });

  test('says what it is when it is taken for the Redis', async t => {
    const redis = await openedRedis(t, `redis://${redises.sentinels[0]?.address}`);
    await assert.rejects(redis.run(script('return 1'), ['a'], []), {
      message: 'Redis: it does not know this command (of sentinels: redis-sentinel in REDIS_URL)',
    });
  });

  test('is its master, which is followed when it dies, with a sentinel that hangs', async t => {
    const { addresses, master, masterName, replica, sentinels } = redises;
    const { redis } = openRedis(t, `redis-sentinel://${addresses}/${masterName}`);
    await until('the master is connected', () => redis.status().connected);
    assert.equal(await redis.send('n', ['INCR', 'n']), 1);
    const portOf = async () => {
      const info = await redis.send('', ['INFO', 'server']).catch(() => '');
      return Number(/tcp_port:(\d+)/.exec(String(info))?.[1]);
    };
    assert.equal(await portOf(), master.port);

    await until('the replica has it', async () => {
      const info = String(await redis.send('', ['INFO', 'replication']).catch(() => ''));
      const [, done = '-1'] = /offset=(\d+)/.exec(info) ?? [];
      return /state=online/.test(info) && info.includes(`master_repl_offset:${done}`);
    });
    sentinels[0]?.signal('SIGSTOP');
    t.after(() => sentinels[0]?.signal('SIGCONT'));
    await master.kill();
    await until('the replica is the master', async () => (await portOf()) === replica.port, 15_000);
    assert.equal(await redis.send('n', ['INCR', 'n']), 2);
  });
});
