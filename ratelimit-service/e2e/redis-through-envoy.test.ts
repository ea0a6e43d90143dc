import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from '@redis/client';
import { until } from '#envoy/e2e/until.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { editService } from './edit-service.ts';
import {
  type LimitedSystem,
  labelled,
  limits,
  patientService,
  startLimited,
} from './limited-system.ts';
import { withinOneWindow } from './within-one-window.ts';

/**
 * The store's time. The proxy waits so much longer that the service answers before it, also on a
 * busy machine.
 */
const STORE_MS = 400;
const PROXY_MS = 10 * STORE_MS;

const CLIENT = { client: { header: 'X-Client', omit_if_not_present: true } };

describe('a gateway whose counters are in Redis', { skip: whyNoRedis() ?? false }, () => {
  let redis: RedisServer;
  let system: LimitedSystem;
  before(async () => {
    redis = await startRedis();
    process.env.REDIS_URL = `redis://${redis.address}`;
    process.env.STORE_TIMEOUT_MS = String(STORE_MS);
    system = await startLimited(({ rateLimit, upstream }) => ({
      'service.yaml': patientService(rateLimit),
      'mappings.yaml':
        labelled('closed', upstream, ['closed']) +
        labelled('open', upstream, ['open']) +
        labelled('counted', upstream, ['counted', CLIENT]),
      'limits.yaml': limits('limits', [
        { pattern: [{ generic_key: 'closed' }], rate: 0, unit: 'hour' },
        {
          pattern: [{ generic_key: 'open' }],
          rate: 1_000_000,
          unit: 'hour',
          injectResponseHeaders: [{ name: 'x-counted', value: 'yes' }],
        },
        { pattern: [{ generic_key: 'counted' }, { client: '*' }], rate: 2, unit: 'hour' },
      ]),
    }));
  });
  after(async () => {
    delete process.env.REDIS_URL;
    delete process.env.STORE_TIMEOUT_MS;
    await system.stop();
    await redis.remove();
  });

  const closed = () => system.statusOf('/closed/');
  /** Returns `counted`, or what a request gets that is not counted. */
  const open = async () => {
    const { status, headers } = await system.ask('/open/');
    return headers['x-counted'] === undefined ? status : 'counted';
  };
  const answered = (answer: number | 'counted') =>
    until(async () => (await open()) === answer || undefined);

  test('remembers them when the service is restarted', () =>
    withinOneWindow(async client => {
      const counted = () => system.statusOf('/counted/', { headers: { 'x-client': client } });
      assert.deepEqual([await counted(), await counted(), await counted()], [200, 200, 429]);
      await system.whileAway('ratelimit-service', () => answered(200));
      await answered('counted');
      assert.equal(await counted(), 429);
    }));

  const stateWhen = (state: string) =>
    system.statusWhen(({ resources }) =>
      resources.some(({ id, ...at }) => id === 'RateLimit/default/limits' && at.state === state),
    );

  test('tells the operator that nothing is counted while Redis is dead', async () => {
    await redis.kill();
    const { problems } = await stateWhen('out of service');
    const [problem, ...more] = problems.filter(({ kind }) => kind === 'RateLimit');
    assert.match(
      problem?.message ?? '',
      /^the Redis of the counters does not answer \(.+nothing is/,
    );
    assert.equal(problem?.severity, 'error');
    assert.deepEqual(more, []);
    await redis.start();
    const { problems: left } = await stateWhen('in force');
    assert.deepEqual(left, []);
  });

  test('tells it too while Redis answers and takes no counts', async () => {
    const admin = await createClient({ url: `redis://${redis.address}` }).connect();
    try {
      await admin.sendCommand(['CONFIG', 'SET', 'min-replicas-to-write', '1']);
      const [problem] = (await stateWhen('out of service')).problems;
      assert.match(
        problem?.message ?? '',
        /^the Redis of the counters does not count \(.+nothing is/,
      );
      await admin.sendCommand(['CONFIG', 'SET', 'min-replicas-to-write', '0']);
      assert.deepEqual((await stateWhen('in force')).problems, []);
    } finally {
      admin.destroy();
    }
  });

  for (const [deny, status] of [
    [false, 200],
    [true, 500],
  ] as const) {
    describe(`with failure_mode_deny ${deny}`, () => {
      before(async () => {
        await editService(system, {
          service: system.services.rateLimit,
          timeout_ms: PROXY_MS,
          failure_mode_deny: deny,
        });
        await answered('counted');
      });

      test(`answers ${status} while Redis is dead, at rate 0 429, and counts when it is back`, async t => {
        await redis.kill();
        await answered(status);
        for (let i = 0; i < 20; i++)
          assert.deepEqual([await open(), await closed()], [status, 429]);
        await redis.start();
        const from = performance.now();
        await answered('counted');
        t.diagnostic(`limits were back after ${Math.round(performance.now() - from)} ms`);
      });

      test(`answers ${status} while Redis is frozen, at rate 0 429, before the proxy's own time is over`, async t => {
        redis.signal('SIGSTOP');
        t.after(() => redis.signal('SIGCONT'));
        for (const [ask, answer] of [
          [open, status],
          [closed, 429],
        ] as const) {
          const sentAt = performance.now();
          assert.equal(await ask(), answer);
          const tookMs = performance.now() - sentAt;
          t.diagnostic(`${Math.round(tookMs)} ms`);
          assert.ok(tookMs < PROXY_MS, `${tookMs} ms`);
        }
        redis.signal('SIGCONT');
        await answered('counted');
      });
    });
  }
});
