import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import { freePort } from '#grpc/testing/free-port.ts';
import { countLookups } from '#process/testing/count-lookups.ts';
import { RedisUnavailable } from '../redis-unavailable.ts';
import { script } from '../script.ts';
import { describeRedis, openedRedis, openRedis } from '../testing/open-redis.ts';
import { type RedisServer, startRedis, whyNoRedis } from '../testing/redis-server.ts';
import { until } from '../testing/until.ts';

const skip = whyNoRedis() ?? false;

describe('a connection to one Redis', { skip, concurrency: 4 }, () => {
  let server: RedisServer;
  before(async () => {
    server = await startRedis();
  });
  after(() => server.remove());

  /** A server that a test may break. */
  async function ownServer(t: {
    readonly after: (run: () => Promise<void>) => void;
  }): Promise<RedisServer> {
    const own = await startRedis();
    t.after(own.remove);
    return own;
  }

  test('sends commands in one database', async t => {
    const [three, none] = await Promise.all([
      openedRedis(t, `redis://${server.address}/3`),
      openedRedis(t, `redis://${server.address}`),
    ]);
    assert.equal(await three.send('a', ['SET', 'database', 'three']), 'OK');
    assert.equal(await none.send('a', ['GET', 'database']), null);
    assert.equal(await three.send('a', ['GET', 'database']), 'three');
  });

  test('runs a script that Redis knows, and one that it has forgotten', async t => {
    const redis = await openedRedis(t, `redis://${server.address}`);
    const join = script('return {KEYS[1], ARGV[1], #KEYS}');
    for (let round = 0; round < 2; round += 1) {
      await redis.send('', ['SCRIPT', 'FLUSH']);
      assert.deepEqual(await redis.run(join, ['k'], ['ü\0']), ['k', 'ü\0', 1]);
      assert.deepEqual(await redis.run(join, ['k', 'l'], ['']), ['k', '', 2]);
    }
  });

  test("a server's error becomes plain words without the arguments", async t => {
    const redis = await openedRedis(t, `redis://${server.address}`);
    await redis.send('list', ['RPUSH', 'list', '1']);
    for (const [args, message] of [
      [['INCR', 'list'], 'Redis: it answered WRONGTYPE'],
      [['INCR', 'list', 'secret'], 'Redis: it answered ERR'],
    ] as const)
      await assert.rejects(redis.send('list', args), (error: unknown) => {
        assert.ok(error instanceof RedisUnavailable);
        assert.equal(error.message, message);
        return true;
      });
  });

  test('to what is no node of a cluster, or has no such database, says so', async t => {
    for (const [url, reason] of [
      [`redis-cluster://${server.address}`, /: it is no node of a cluster$/],
      [`redis://${server.address}/9999`, /^it has no such database$/],
    ] as const) {
      const { redis } = openRedis(t, url);
      await until('it is known why', () => reason.test(redis.status().reason ?? ''));
      assert.equal(redis.status().connected, false);
    }
  });

  test('refuses at once what cannot be sent, and forgets it', async t => {
    const own = await ownServer(t);
    await own.kill();
    const { events, redis } = openRedis(t, `redis://${own.address}`);
    await until('it is refused', () => events.length > 0);
    await assert.rejects(redis.send('a', ['INCR', 'a']), {
      message: 'Redis: not connected: connection refused',
      notSent: true,
    });
    assert.deepEqual(redis.status(), {
      connected: false,
      reason: 'connection refused',
      waiting: 0,
    });
    await own.start();
    await until('Redis is connected', () => redis.status().connected);
    assert.equal(await redis.send('a', ['INCR', 'a']), 1);
  });

  test('is back soon after a restart, and says each change once', async t => {
    const own = await ownServer(t);
    const { events, redis } = openRedis(t, `redis://${own.address}`, { random: Math.random });
    await until('Redis is connected', () => redis.status().connected);
    await own.kill();
    await until('the connection is lost', () => !redis.status().connected);
    await until('it is refused', () => events.length === 3);
    await own.start();
    await until('Redis is connected', () => redis.status().connected);
    const { address } = own;
    // A killed server's kernel closes or resets: which one is a matter of what was still unread.
    const told = events.map(event =>
      event.connected
        ? event
        : { ...event, reason: event.reason.replace('was reset', 'was closed') },
    );
    assert.deepEqual(told, [
      { connected: true, address },
      { connected: false, address, reason: 'the connection was closed' },
      { connected: false, address, reason: 'connection refused' },
      { connected: true, address },
    ]);
  });

  test('keeps at most so many commands waiting, however many come', async t => {
    const own = await ownServer(t);
    const redis = await openedRedis(t, `redis://${own.address}`, {
      timeoutMs: 500,
      maxWaiting: 100,
    });
    own.signal('SIGSTOP');
    const calls = Array.from({ length: 50_000 }, () =>
      redis.send('n', ['INCR', 'n']).catch((error: Error) => error.message),
    );
    assert.equal(redis.status().waiting, 100);
    const refused = (await Promise.all(calls)).filter(
      answer => answer === 'Redis: too many commands wait',
    );
    // The connection may have a ping of its own on the way, which takes a place.
    assert.ok(
      refused.length === 49_900 || refused.length === 49_901,
      `${refused.length} were refused`,
    );
    assert.equal(redis.status().waiting, 0);
  });

  test('leaves a server that has become a replica, and says so once until it serves again', async t => {
    const own = await ownServer(t);
    const { events, redis } = openRedis(t, `redis://${own.address}`);
    await until('Redis is connected', () => redis.status().connected);
    await redis.send('', ['REPLICAOF', '127.0.0.1', `${server.port}`]);
    for (const _ of [1, 2, 3]) {
      await assert.rejects(redis.send('n', ['INCR', 'n']), { message: 'Redis: it is a replica' });
      await until('it is connected anew', () => redis.status().connected);
    }
    await redis.send('', ['REPLICAOF', 'NO', 'ONE']);
    await until('it serves', () => events.length === 3);
    const { address } = own;
    assert.deepEqual(events, [
      { connected: true, address },
      { connected: false, address, reason: 'it is a replica' },
      { connected: true, address },
    ]);
  });

  test('reads from a server that is a replica while it refuses writes', async t => {
    const own = await ownServer(t);
    const observer = await openedRedis(t, `redis://${own.address}`);
    // With a clock that stands still it does not connect again meanwhile.
    const { events, redis } = openRedis(t, `redis://${own.address}`, { now: () => 0 });
    await until('Redis is connected', () => redis.status().connected);
    await redis.send('k', ['SET', 'k', 'v']);
    await observer.send('', ['REPLICAOF', '127.0.0.1', '1']); // a master that is away
    const refused = () => assert.rejects(redis.send('n', ['INCR', 'n']), /: it is a replica$/);
    await refused();
    await until('it is connected anew', () => redis.status().connected);
    for (const _ of [1, 2, 3]) {
      await refused();
      assert.equal(await redis.send('k', ['GET', 'k']), 'v');
    }
    // An idle connection is looked at before it is pinged. The observer is not idle.
    const pings = async () => {
      const stats = await observer.send('', ['INFO', 'commandstats']);
      return Number(/cmdstat_ping:calls=(\d+)/.exec(String(stats))?.[1] ?? 0);
    };
    const before = await pings();
    await until('it was looked at', async () => (await pings()) > before);
    const { address } = own;
    assert.deepEqual(events, [
      { connected: true, address },
      { connected: false, address, reason: 'it is a replica' },
    ]);
  });

  test('closes in time though the server hangs', async t => {
    const own = await ownServer(t);
    const redis = await openedRedis(t, `redis://${own.address}`, { timeoutMs: 100 });
    own.signal('SIGSTOP');
    const call = assert.rejects(redis.send('n', ['INCR', 'n']), RedisUnavailable);
    const begin = performance.now();
    await redis.close();
    assert.ok(performance.now() - begin < 10_000, 'else it never ends');
    await call;
    await assert.rejects(redis.send('n', ['INCR', 'n']), {
      message: 'Redis: closed',
      notSent: true,
    });
  });

  test('lets what waits end before it closes', async t => {
    const redis = await openedRedis(t, `redis://${server.address}`);
    const call = redis.send('n', ['ECHO', 'last']);
    await redis.close();
    assert.equal(await call, 'last');
  });

  test('finds a server that has gone without a word, though nothing is sent', async t => {
    const own = await ownServer(t);
    const { events, redis } = openRedis(t, `redis://${own.address}`);
    await until('Redis is connected', () => redis.status().connected);
    own.signal('SIGSTOP');
    await until('it is missed', () => !redis.status().connected);
    assert.deepEqual(events[1], {
      connected: false,
      address: own.address,
      reason: 'no answer for a second',
    });
  });

  test('does not take a server that says nothing for one that is up', async t => {
    const mute = createServer(socket => void socket.on('error', () => {}));
    const port = await freePort();
    mute.listen(port, '127.0.0.1');
    t.after(() => mute.close());
    const { events } = openRedis(t, `redis://127.0.0.1:${port}`);
    await until('it gives up', () => events.length > 0);
    assert.equal(events[0]?.connected === false && events[0].reason, 'no answer to the connection');
  });

  for (const [answer, reason] of [
    ['HTTP/1.1 400 Bad Request\r\n\r\n', 'it does not speak the protocol of Redis'],
    [`(${'9'.repeat(1_000_000)}\r\n`, 'it does not speak the protocol of Redis'],
    ['*33000000\r\n'.repeat(40), 'its reply is too large'],
  ] as const)
    test(`to a server that answers ${JSON.stringify(answer.slice(0, 9))}… is no connection`, async t => {
      const peer = createServer(socket =>
        socket.on('error', () => {}).once('data', () => socket.end(answer)),
      );
      const port = await freePort();
      peer.listen(port, '127.0.0.1');
      t.after(() => peer.close());
      const { events } = openRedis(t, `redis://127.0.0.1:${port}`);
      await until('it gives up', () => events.length > 0);
      assert.deepEqual(events[0], { connected: false, address: `127.0.0.1:${port}`, reason });
    });

  test('shares the lookup of a name with others', async t => {
    const url = `redis://${server.address.replace('127.0.0.1', 'localhost')}`;
    const open = () => Array.from({ length: 10 }, () => openRedis(t, url));
    assert.equal(await countLookups(open), 1);
  });

  test('to a name that nobody has is told', async t => {
    const { redis } = openRedis(t, 'redis://redis.invalid');
    await until('it is told', () => redis.status().reason !== undefined);
    assert.match(
      String(redis.status().reason),
      /^(no such host|the host name cannot be looked up now)$/,
    );
  });

  test('whose options say so has a description that stays as it is', async t => {
    const description = Object.freeze(describeRedis(`redis://${server.address}`));
    await openedRedis(t, description);
  });
});

describe('a Redis that hangs for 3 s', { skip }, () => {
  test('answers in time, and keeps nothing for later', async t => {
    const own = await startRedis();
    t.after(own.remove);
    const redis = await openedRedis(t, `redis://${own.address}`, { timeoutMs: 50 });
    own.signal('SIGSTOP');
    const begin = performance.now();
    const took: number[] = [];
    const ownDelayMs = watchOwnDelay(t);
    let sent = 0;
    while (performance.now() - begin < 3000) {
      const at = performance.now();
      const error = await redis.send('n', ['INCR', 'n']).catch((error: unknown) => error);
      took.push(performance.now() - at);
      assert.ok(error instanceof RedisUnavailable);
      if (!error.notSent) sent += 1;
      await new Promise(resolve => setImmediate(resolve));
    }
    own.signal('SIGCONT');
    await until('it counts again', () =>
      redis.send('n', ['INCR', 'n']).then(
        () => true,
        () => false,
      ),
    );
    const counted = Number(await redis.send('n', ['GET', 'n']));
    took.sort((a, b) => a - b);
    assert.ok(took.length > 1000, `${took.length} calls`);
    // one before it is known to hang, and one more may be on a new connection
    assert.ok(sent <= 2, `${sent} were sent`);
    assert.ok(counted <= sent + 2, `${counted} counted, ${sent} sent`);
    assert.ok(Number(took.at(-1)) < 50 + 20 + ownDelayMs(), `the slowest took ${took.at(-1)} ms`);
    // A busy machine may take the processor away from more than one in a hundred.
    const most = Number(took[Math.floor(took.length * 0.9)]);
    assert.ok(most < 20, `others are refused at once, not after ${most} ms`);
  });
});

/** The longest time that this process had no turn, in ms: others want the processor, too. */
function watchOwnDelay(t: TestContext): () => number {
  let last = performance.now();
  let longest = 0;
  const look = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    return longest;
  };
  const timer = setInterval(look, 2);
  t.after(() => clearInterval(timer));
  return look;
}
