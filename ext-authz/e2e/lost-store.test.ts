import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Status } from '#controlplane/status/status.ts';
import { claimPortOffset, type PortOffset } from '#envoy/e2e/port-offset.ts';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { guardedPath, startCertifiedProvider, USER } from './certified-provider.ts';
import { edgeSession } from './edge-session.ts';

describe('a gateway whose sessions are in Redis', { skip: whyNoRedis() ?? false }, () => {
  let port: PortOffset;
  let redis: RedisServer;
  let system: System;
  let provider: { close(): Promise<void> };
  before(async () => {
    [port, redis] = await Promise.all([claimPortOffset(), startRedis()]);
    system = await startSystem({
      port,
      environment: { WORKERS: '2', REDIS_URL: `redis://${redis.address}` },
    });
    const at = { edge: system.edge, port: system.freePort(0) };
    provider = await startCertifiedProvider({ ...at, accessTokenTtl: 600, refreshes: false });
    system.write('site.yaml', guardedPath('site', at));
    await until(async () => (await request(system.edge, '/site')).status === 303 || undefined);
  });
  after(async () => {
    redis?.signal('SIGCONT');
    await provider?.close();
    await system?.stop();
    await redis?.remove();
    port?.release();
  });

  const stateWhen = (state: string) =>
    system.statusWhen(({ resources }) =>
      resources.some(({ id, ...at }) => id === 'Filter/default/site' && at.state === state),
    );
  const filterProblems = ({ problems }: Status) => problems.filter(({ kind }) => kind === 'Filter');

  for (const [how, lose, find] of [
    ['hangs', async () => redis.signal('SIGSTOP'), async () => redis.signal('SIGCONT')],
    ['is stopped', () => redis.kill(), () => redis.start()],
  ] as const)
    test(`tells that no login begins while it ${how}, without a request`, async t => {
      const cookie = await edgeSession(system.edge, '/site', USER);
      await lose();
      const from = performance.now();
      const [problem, ...more] = filterProblems(await stateWhen('out of service'));
      t.diagnostic(`told after ${Math.round(performance.now() - from)} ms`);
      assert.match(
        problem?.message ?? '',
        /^the store of sessions and tokens does not answer \(Redis: .+\)\. Until it does, no login begins, and requests with a login get 503$/,
      );
      assert.equal(problem?.severity, 'error');
      assert.deepEqual(more, [], 'workers say it once');
      for (const headers of [{ cookie }, {}])
        assert.equal((await request(system.edge, '/site', { headers })).status, 503);
      await find();
      assert.deepEqual(filterProblems(await stateWhen('in force')), []);
      await until(async () => (await request(system.edge, '/site')).status === 303 || undefined);
    });
});
