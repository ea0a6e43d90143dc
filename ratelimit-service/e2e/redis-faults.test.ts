import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { startCluster } from '#redis/testing/redis-cluster.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { limitOn, startReplicas } from './replicas.ts';
import type { CallResult, ServiceClient } from './service-client.ts';

/** Half of the 20 ms of a RateLimitService's own default, which is less than in production. */
const STORE_TIMEOUT_MS = '10';
const LIMITS = [limitOn('client', 1_000_000, 'HOUR')];

/** A busy machine takes longer than the 10 ms. A call that hangs takes for ever. */
const IN_TIME_MS = 100;

/** Starts a service on a Redis of its own, in which it has counted. */
async function setUp(t: TestContext) {
  const redis = await startRedis();
  t.after(() => redis.remove());
  const environment = { REDIS_URL: `redis://${redis.address}`, STORE_TIMEOUT_MS };
  const [replica] = await startReplicas(t, 1, LIMITS, environment);
  assert.ok(replica !== undefined);
  await counts(replica.client);
  return { redis, ...replica };
}

function counts(client: ServiceClient, name = 'any'): Promise<true> {
  return until(async () => (await client.ask({ client: name })).outcome === 'OK' || undefined);
}

/** Sends requests until `ended`, and reports how long it took to say that there is no answer. */
async function asksInVain(
  t: TestContext,
  client: ServiceClient,
  ended: () => boolean,
): Promise<void> {
  const outcomes: CallResult[] = [];
  await until(
    async () => {
      outcomes.push(...(await Promise.all([1, 2, 3, 4].map(() => client.ask({ client: 'any' })))));
      return ended() || undefined;
    },
    20_000,
    'the end of the fault',
  );
  const took = outcomes.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor((took.length - 1) * share)] ?? Number.NaN;
  t.diagnostic(
    `${took.length} refused, median ${at(0.5).toFixed(1)} ms, 99 % ${at(0.99).toFixed(1)} ms`,
  );
  assert.deepEqual(new Set(outcomes.map(({ outcome }) => outcome)), new Set(['UNAVAILABLE']));
  assert.ok(at(0.5) < IN_TIME_MS, `median ${at(0.5)} ms`);
}

async function reportRecovery(t: TestContext, client: ServiceClient): Promise<void> {
  const from = performance.now();
  await counts(client);
  const tookMs = performance.now() - from;
  t.diagnostic(`counts again after ${Math.round(tookMs)} ms`);
  assert.ok(tookMs < 5_000, `${tookMs} ms`);
}

/** Freezes the Redis. It answers nothing once the signal has reached it. */
async function freeze(t: TestContext, redis: RedisServer, client: ServiceClient): Promise<void> {
  redis.signal('SIGSTOP');
  t.after(() => redis.signal('SIGCONT'));
  await until(
    async () => (await client.ask({ client: 'any' })).outcome === 'UNAVAILABLE' || undefined,
  );
}

describe('a service whose Redis', { skip: whyNoRedis() ?? false }, () => {
  test('is killed says so in time, and counts when it is back', async t => {
    const { client, redis } = await setUp(t);
    await redis.kill();
    let asked = 0;
    await asksInVain(t, client, () => ++asked === 50);
    await redis.start();
    await reportRecovery(t, client);
  });

  test('is frozen for three seconds says so in time, and counts when it goes on', async t => {
    const { client, redis, service } = await setUp(t);
    await freeze(t, redis, client);
    const end = performance.now() + 3_000;
    await asksInVain(t, client, () => performance.now() > end);
    assert.equal(await service.metric('gateway_ratelimit_store_waiting'), 0);
    redis.signal('SIGCONT');
    await reportRecovery(t, client);
  });

  test('is frozen under a flood of requests answers each of them, and none waits after', async t => {
    const { client, redis, service } = await setUp(t);
    await freeze(t, redis, client);
    const flood = Array.from({ length: 5_000 }, () => client.ask({ client: 'any' }));
    const outcomes = new Set((await Promise.all(flood)).map(({ outcome }) => outcome));
    assert.deepEqual(outcomes, new Set(['UNAVAILABLE']));
    assert.equal(await service.metric('gateway_ratelimit_store_waiting'), 0);
    redis.signal('SIGCONT');
    await reportRecovery(t, client);
  });

  test('is a cluster that has lost a node counts again, when its replica has taken over', async t => {
    const cluster = await startCluster();
    t.after(() => cluster.remove());
    const addresses = `redis-cluster://${cluster.addresses}`;
    const environment = { REDIS_URL: addresses, STORE_TIMEOUT_MS: '1000' };
    const replicas = await startReplicas(t, 1, LIMITS, environment);
    const client = replicas[0]?.client;
    assert.ok(client !== undefined);
    const names = Array.from({ length: 30 }, (_, at) => `client-${at}`);
    for (const name of names) await counts(client, name);
    await cluster.masters[0]?.kill();
    const lostAt = performance.now();
    const first = await Promise.all(names.map(name => client.ask({ client: name })));
    const going = first.filter(({ outcome }) => outcome === 'OK').length;
    assert.ok(
      going > 0 && going < names.length,
      `${going} of ${names.length} are on the living nodes`,
    );
    for (const { outcome } of first) assert.match(outcome, /^(OK|UNAVAILABLE)$/);
    for (const name of names) await counts(client, name);
    t.diagnostic(
      `${going} of ${names.length} went on, all after ${Math.round(performance.now() - lostAt)} ms`,
    );
  });
});
