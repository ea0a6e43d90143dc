import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { limitOn, type Replica, startReplicas } from './replicas.ts';
import type { CallResult } from './service-client.ts';
import { withinOneWindow } from './within-one-window.ts';

const REPLICAS = 8;
const HOURLY = 300;
const EACH_SECOND = 40;
const LIMITS = [limitOn('client', HOURLY, 'HOUR'), limitOn('flow', EACH_SECOND, 'SECOND')];

describe('eight replicas on one Redis', { skip: whyNoRedis() ?? false }, () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.remove());

  test('let exactly the rate of a window through, under parallel load', async t => {
    const replicas = await startReplicas(t, REPLICAS, LIMITS, {
      REDIS_URL: `redis://${redis.address}`,
      STORE_TIMEOUT_MS: '5000',
    });
    await t.test('of one hour, for every client', () =>
      withinOneWindow(async client => {
        const ask = (name: string) =>
          askAll(replicas, 100, replica => replica.client.ask({ client: name }));
        const all = await Promise.all([ask(`${client}-a`), ask(`${client}-b`)]);
        for (const outcomes of all)
          assert.deepEqual(tally(outcomes), { OK: HOURLY, OVER_LIMIT: REPLICAS * 100 - HOURLY });
      }),
    );
    await t.test('of one hour, for each group of a request', () =>
      withinOneWindow(async client => {
        const [shared, own] = [`${client}-shared`, `${client}-own`];
        const outcomes = await askAll(replicas, 50, replica =>
          replica.client.ask({ client: shared }, { client: own }, { client: own, more: 'of it' }),
        );
        assert.deepEqual(tally(outcomes), { OK: HOURLY, OVER_LIMIT: REPLICAS * 50 - HOURLY });
      }),
    );
    await t.test('of each of several seconds', async t => {
      const windows = new Map<number, CallResult[]>();
      const doubtful = new Set<number>();
      const lane = async ({ client }: Replica, end: number) => {
        while (performance.now() < end) {
          const sentAt = Date.now();
          const outcome = await client.ask({ flow: 'one' });
          const possible = windowsOf(outcome, sentAt);
          if (possible.length > 1) for (const window of possible) doubtful.add(window);
          for (const window of possible)
            windows.set(window, [...(windows.get(window) ?? []), outcome]);
        }
      };
      const full = () =>
        [...windows].flatMap(([window, outcomes]) => {
          const { OK, OVER_LIMIT = 0 } = tally(outcomes);
          return OVER_LIMIT > 0 && !doubtful.has(window) ? [OK] : [];
        });
      // On a machine that pauses, some windows cannot be told apart.
      for (let round = 0; round < 10 && full().length < 2; round++) {
        const end = performance.now() + 2_500;
        await Promise.all([...replicas, ...replicas].map(replica => lane(replica, end)));
      }
      t.diagnostic(JSON.stringify([...windows.values()].map(tally)));
      assert.ok(full().length >= 2, `${full().length} windows`);
      for (const passed of full()) assert.equal(passed, EACH_SECOND);
    });
  });
});

function askAll(
  replicas: readonly Replica[],
  times: number,
  ask: (replica: Replica) => Promise<CallResult>,
): Promise<readonly CallResult[]> {
  return Promise.all(
    replicas.flatMap(replica => Array.from({ length: times }, () => ask(replica))),
  );
}

function tally(outcomes: readonly CallResult[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(outcomes, ({ outcome }) => outcome);
  return Object.fromEntries([...groups].map(([outcome, { length }]) => [outcome, length]));
}

/**
 * Returns the seconds, by their ends, in which Redis may have counted a request that was answered
 * just now. Redis has our clock. It is one second, unless the answer took long.
 */
function windowsOf({ response }: CallResult, sentAt: number): readonly number[] {
  const { nanos, seconds } = response?.statuses[0]?.duration_until_reset ?? {
    nanos: 0,
    seconds: 0,
  };
  const endIfCountedAt = (now: number) => (now + Number(seconds) * 1_000 + nanos / 1e6) / 1_000;
  const [first, last] = [Math.ceil(endIfCountedAt(sentAt)), Math.floor(endIfCountedAt(Date.now()))];
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, at) => last - at);
}
