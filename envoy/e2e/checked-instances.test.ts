import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startHeldApplication } from './held-application.ts';
import { type Load, type Sample, startLoad } from './load.ts';
import { promised } from './promised.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';

const FIRST = 'user-service-1';
const INTERVAL_MS = 300;
const TIMEOUT_MS = 500;

/**
 * Envoy waits up to a tenth longer. The first of two failed checks is the one after the failure.
 */
const OUT_MS = 1.1 * INTERVAL_MS * 2 + TIMEOUT_MS * 2;

/** Longer than a stage of a change waits. */
const LONG_TIMEOUT_MS = 4_000;

const mapping = (
  name: string,
  service: string,
  intervalMs: number,
  timeoutMs: number,
  path: string,
) => `---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: ${name}}
spec:
  prefix: /${name}/
  rewrite: /user/
  service: ${service}
  timeout_ms: 2000
  health_checks:
    - interval: ${intervalMs}ms
      timeout: ${timeoutMs}ms
      health_check: {http: {path: ${path}}}
`;

describe('behind the proxies of three instances, checks reach the instances themselves:', () => {
  let system: System;
  before(async () => {
    const checked = mapping('checked', 'user-service', INTERVAL_MS, TIMEOUT_MS, '/user/health');
    system = await startSystem({
      instances: 3,
      resources: { 'checked.yaml': `${checked}  resolver: sds\n` },
    });
  });
  after(() => system.stop());

  const loadOn = (path: string) => startLoad({ base: system.edge, path, perSecond: 100 });

  test('one that hangs is out in time, and comes back', async t => {
    const load = loadOn('/checked/health');
    await until(() => load.tally().hostnames.size === 3 || undefined);
    const pid = (await system.pid(FIRST)) ?? assert.fail('no instance');
    process.kill(pid, 'SIGSTOP');
    const failedAt = performance.now();
    await passed(load, failedAt + promised(OUT_MS) + 1_000);
    process.kill(pid, 'SIGCONT');
    const backAt = performance.now();
    await until(() => load.tally().samples.some(servedBy(FIRST, backAt)) || undefined);
    const { failures, samples } = await load.stop();
    const late = ({ sentAt }: Sample) => sentAt > failedAt + promised(OUT_MS) && sentAt < backAt;
    t.diagnostic(
      `${failures.length} failed, the last sent after ${lastAfter(failures, failedAt)} ms`,
    );
    assert.ok(samples.some(late), 'else this shows nothing');
    assert.deepEqual(failures.filter(late), []);
  });

  test('one that is killed costs no request, and comes back', async t => {
    const load = loadOn('/checked/health');
    await until(() => load.tally().hostnames.size === 3 || undefined);
    await system.kill(FIRST);
    const killedAt = performance.now();
    await until(() => load.tally().samples.some(servedBy(FIRST, killedAt)) || undefined, 60_000);
    const { failures, requests } = await load.stop();
    t.diagnostic(`${requests} requests, ${failures.length} failed`);
    assert.deepEqual(failures, []);
  });

  test('a change of checks that nothing answers loses no request', async t => {
    const application = await startHeldApplication();
    t.after(() => application.close());
    application.release();
    const checked = (name: string, intervalMs: number) =>
      mapping(name, `127.0.0.1:${application.port}`, intervalMs, LONG_TIMEOUT_MS, '/late');
    system.write('twice.yaml', checked('first', 1_000) + checked('second', 2_000));
    await until(async () => (await request(system.edge, '/second/x')).status === 200 || undefined);
    const load = loadOn('/second/x');
    await load.more(50);
    system.write('twice.yaml', checked('first', 1_000) + checked('second', 3_000));
    await passed(load, performance.now() + 2 * LONG_TIMEOUT_MS);
    const { failures, requests } = await load.stop();
    t.diagnostic(`${requests} requests, ${failures.length} failed`);
    assert.deepEqual(failures.slice(0, 3), []);
  });
});

async function passed(load: Load, time: number): Promise<void> {
  const isPast = () => load.tally().samples.some(({ sentAt }) => sentAt > time);
  await until(() => isPast() || undefined, 60_000, 'answers');
}

function servedBy(hostname: string, since: number): (sample: Sample) => boolean {
  return sample => sample.sentAt > since && sample.hostname === hostname;
}

function lastAfter(samples: readonly Sample[], time: number): number {
  return Math.round(Math.max(0, ...samples.map(({ sentAt }) => sentAt - time)));
}
