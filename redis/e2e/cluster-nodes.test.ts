import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Redis } from '../connect.ts';
import { keySlot } from '../key-slot.ts';
import { script } from '../script.ts';
import { openedRedis, openRedis } from '../testing/open-redis.ts';
import { type RedisCluster, startCluster } from '../testing/redis-cluster.ts';
import { type RedisServer, whyNoRedis } from '../testing/redis-server.ts';
import { until } from '../testing/until.ts';

/** In the first, second and third third of the slots. */
const [FIRST, SECOND, THIRD] = ['first', 'second', 'third'].map((name, index) =>
  keyIn(name, index),
);

function keyIn(name: string, third: number): string {
  for (let number = 0; ; number += 1)
    if (Math.floor(keySlot(`${name}${number}`) / 5462) === third) return `${name}${number}`;
}

describe('a cluster of Redis', { skip: whyNoRedis() ?? false }, () => {
  let cluster: RedisCluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.remove());

  const open = (t: Parameters<typeof openedRedis>[0]) =>
    openedRedis(t, `redis-cluster://${cluster.masters[0]?.address}`);
  const increment = (redis: Redis, key = '') => redis.send(key, ['INCR', key]);

  test('has each key on the node of its slot, found from any one node', async t => {
    const redis = await open(t);
    const echo = script('return KEYS[1]');
    for (const key of [FIRST, SECOND, THIRD, '{ü}', '']) {
      assert.equal(await increment(redis, key), 1);
      assert.equal(await redis.run(echo, [String(key)], []), key);
    }
  });

  test('moves a slot, and nothing is lost or counted twice', async t => {
    const redis = await open(t);
    const slot = String(keySlot(String(FIRST)));
    const [from, to] = await Promise.all(
      cluster.masters.slice(0, 2).map(server => adminOf(t, server)),
    );
    assert.ok(from !== undefined && to !== undefined);
    const before = Number(await increment(redis, FIRST));
    await to.send('', ['CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from)]);
    await from.send('', ['CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to)]);
    const fresh = `{${FIRST}}fresh`; // not on the old node: ASK
    assert.equal(await increment(redis, fresh), 1);
    assert.equal(await increment(redis, FIRST), before + 1);
    const { port = 0 } = cluster.masters[1] ?? {};
    await from.send('', ['MIGRATE', '127.0.0.1', `${port}`, String(FIRST), '0', '1000']);
    assert.equal(await increment(redis, FIRST), before + 2);
    const id = await idOf(to);
    for (const node of [to, from]) await node.send('', ['CLUSTER', 'SETSLOT', slot, 'NODE', id]);
    assert.equal(await increment(redis, FIRST), before + 3); // MOVED
    assert.equal(await increment(redis, fresh), 2);
  });

  test('follows to a master that has no slot yet, by one connection', async t => {
    const { events, redis } = openRedis(t, `redis-cluster://${cluster.masters[0]?.address}`);
    await until('it is connected', () => redis.status().connected);
    const added = await cluster.addMaster();
    const servers = [added, ...cluster.masters.toReversed()];
    const nodes = await Promise.all(servers.map(server => adminOf(t, server)));
    const [to, from] = nodes;
    assert.ok(from !== undefined && to !== undefined);
    const slot = String(keySlot(String(THIRD)));
    await to.send('', ['CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from)]);
    await from.send('', ['CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to)]);
    const fresh = Array.from({ length: 20 }, (_, number) => `{${THIRD}}new${number}`);
    const incrementAll = () => Promise.all(fresh.map(key => increment(redis, key)));
    assert.deepEqual(new Set(await incrementAll()), new Set([1]));
    const before = await timesAsked(nodes);
    // A lost connection lets it ask for the slots, of which the new master has none.
    await from.send('', ['CLIENT', 'KILL', 'TYPE', 'normal']);
    await until('the loss is seen', () => events.some(({ connected }) => !connected));
    await until('it has asked', async () => (await timesAsked(nodes)) > before);
    await until('it is connected again', () => redis.status().connected);
    assert.deepEqual(new Set(await incrementAll()), new Set([2]));
    const opened = events.filter(
      ({ address, connected }) => connected && address === added.address,
    );
    assert.equal(opened.length, 1);
    for (const node of [to, from]) await node.send('', ['CLUSTER', 'SETSLOT', slot, 'STABLE']);
  });

  test('serves the other slots while a master is lost, and all when its replica has been promoted', async t => {
    const redis = await open(t);
    const lost = cluster.masters[1];
    const answers = await Promise.all([increment(redis, SECOND), increment(redis, THIRD)]);
    assert.ok(answers.every(answer => typeof answer === 'number'));
    await lost?.kill();
    await until('the loss is seen', () => !redis.status().connected);
    await assert.rejects(increment(redis, SECOND), /not connected/);
    assert.equal(typeof (await increment(redis, THIRD)), 'number');
    await until(
      'the replica is promoted',
      () =>
        increment(redis, SECOND).then(
          () => true,
          () => false,
        ),
      15_000,
    );
    await until('all slots have a master', () => redis.status().connected);
  });
});

function adminOf(t: Parameters<typeof openedRedis>[0], { address }: RedisServer): Promise<Redis> {
  return openedRedis(t, `redis://${address}`, { timeoutMs: 5000 });
}

async function idOf(node: Redis): Promise<string> {
  return String(await node.send('', ['CLUSTER', 'MYID']));
}

/** Returns how often the nodes were asked for the slots. */
async function timesAsked(nodes: readonly Redis[]): Promise<number> {
  const stats = await Promise.all(nodes.map(node => node.send('', ['INFO', 'commandstats'])));
  const calls = stats.map(text => /cluster\|slots:calls=(\d+)/.exec(String(text))?.[1] ?? 0);
  return calls.reduce<number>((sum, times) => sum + Number(times), 0);
}
