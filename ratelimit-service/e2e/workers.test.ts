import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openKnowledge } from '#controlplane/knowledge/knowledge.ts';
import { until } from '#envoy/e2e/until.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { limitOn, startReplicas } from './replicas.ts';
import { connectTo, type ServiceClient } from './service-client.ts';
import type { ServiceProcess } from './service-process.ts';
import { withinOneWindow } from './within-one-window.ts';

const WORKERS = 3;
const CONNECTIONS = 6;
const HOURLY = 300;
const PATIENCE_MS = 30_000;

describe('three workers of one service', { skip: whyNoRedis() ?? false }, () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.remove());

  test('are one service to their clients', async t => {
    const environment = {
      WORKERS: String(WORKERS),
      REDIS_URL: `redis://${redis.address}`,
      STORE_TIMEOUT_MS: '5000',
    };
    const [replica] = await startReplicas(t, 1, [limitOn('client', HOURLY, 'HOUR')], environment);
    assert.ok(replica !== undefined);
    const { order, service } = replica;
    const clients = Array.from({ length: CONNECTIONS }, () => connectTo(service.address));
    t.after(() => clients.forEach(client => void client.close()));

    await t.test('let exactly the rate through, and count all of it', () =>
      withinOneWindow(async name => {
        const answers = (code: string) =>
          service.metric(`gateway_ratelimit_answers_total{code="${code}"}`);
        const before = [await answers('OK'), await answers('OVER_LIMIT')];
        const asked = clients.flatMap(client =>
          Array.from({ length: 100 }, () => client.ask({ client: name })),
        );
        const outcomes = (await Promise.all(asked)).map(({ outcome }) => outcome);
        const [passed, over] = [HOURLY, CONNECTIONS * 100 - HOURLY];
        const tally = Map.groupBy(outcomes, outcome => outcome);
        assert.deepEqual(
          [tally.get('OK')?.length, tally.get('OVER_LIMIT')?.length],
          [passed, over],
        );
        assert.deepEqual(
          [await answers('OK'), await answers('OVER_LIMIT')],
          [(before[0] ?? 0) + passed, (before[1] ?? 0) + over],
        );
      }),
    );

    const [host = '', port] = service.address.split(':');
    const nowhere = { host, port: 1 };
    const at = { extAuthz: nowhere, sds: nowhere, rateLimit: { host, port: Number(port) } };
    const knowledge = openKnowledge(at);
    t.after(() => knowledge.close());
    const counters = async (key: string) => {
      const { limits, processes, store } = await knowledge.counters(5);
      const [limit] = limits;
      assert.deepEqual(
        [limits.length, limit?.domain, limit?.rate, store],
        [1, 'gateway', HOURLY, 'redis'],
      );
      const { keys = [], near = 0, over = 0, within = 0 } = limit ?? {};
      const counted = keys.filter(({ labels }) => labels.some(({ value }) => value === key));
      return { processes, total: within + near + over, counts: counted.map(({ count }) => count) };
    };

    await t.test('tell operators what all of them have counted, until it is reset', () =>
      withinOneWindow(async name => {
        const before = await counters(name);
        const asked = clients.flatMap(client =>
          Array.from({ length: 60 }, () => client.ask({ client: name })),
        );
        await Promise.all(asked);
        const all = CONNECTIONS * 60;
        assert.deepEqual(await counters(name), {
          ...{ processes: WORKERS, total: before.total + all, counts: [all] },
        });
        order({ counter_reset: { domain: 'gateway', labels: [{ key: 'client', value: name }] } });
        await until(
          async () => (await counters(name)).counts.length === 0 || undefined,
          PATIENCE_MS,
        );
      }),
    );

    await t.test('tell the rest while one of them does not answer', async () => {
      const told: (number | undefined)[] = [];
      // One of these two may be the one that is asked.
      for (const number of [2, 3]) {
        const pid = pidsOf(service).get(number) ?? 0;
        process.kill(pid, 'SIGSTOP');
        const answer = await counters('').catch(() => undefined);
        process.kill(pid, 'SIGCONT');
        told.push(answer?.processes);
      }
      assert.ok(told.includes(WORKERS - 1), String(told));
      await until(async () => (await counters('')).processes === WORKERS || undefined, PATIENCE_MS);
    });

    await t.test(
      'that loses one of them under load does not disturb clients of the others',
      async () => {
        let over = false;
        const lanes = clients.map(client => lane(client, () => over));
        await until(() => lanes.every(({ seen }) => seen.length > 20) || undefined, PATIENCE_MS);
        const victim = pidsOf(service).get(2) ?? 0;
        process.kill(victim, 'SIGKILL');
        await until(
          () => pidsOf(service).get(2) !== victim || undefined,
          PATIENCE_MS,
          'another second worker',
        );
        const marks = lanes.map(({ seen }) => seen.length + 20);
        await until(
          () => lanes.every(({ seen }, at) => seen.length > (marks[at] ?? 0)) || undefined,
          PATIENCE_MS,
        );
        over = true;
        await Promise.all(lanes.map(({ ended }) => ended));
        const failures = lanes.map(({ seen }) => seen.filter(outcome => outcome !== 'OK').length);
        // Clients of that worker lose the requests in flight, and go to another worker.
        const hit = failures.filter(count => count > 0);
        assert.ok(hit.length >= 1 && hit.length < CONNECTIONS, String(failures));
        for (const count of hit) assert.ok(count <= 2, String(failures));
      },
    );
  });
});

/** A client that sends the next request as soon as it has an answer. */
function lane(client: ServiceClient, isOver: () => boolean) {
  const seen: string[] = [];
  const run = async () => {
    while (!isOver()) seen.push((await client.ask({ free: 'of limits' })).outcome);
  };
  return { seen, ended: run() };
}

/** Returns the process that listened last, by the number of the worker. */
function pidsOf(service: ServiceProcess): ReadonlyMap<number, number> {
  const lines = service
    .log()
    .split('\n')
    .map(line => JSON.parse(line));
  return new Map(
    lines.flatMap(({ msg, pid, worker }) => (msg === 'listening' ? [[worker, pid]] : [])),
  );
}
