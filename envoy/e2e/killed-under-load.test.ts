import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { instancePorts } from '#launcher/ports.ts';
import { type Load, type Sample, startLoad, type Tally } from './load.ts';
import { promised } from './promised.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startUpstream } from './upstream.ts';

const FIRST = 'user-service-1';
const IMPOSTOR = 'impostor';

/** From then on nothing is sent to an instance that was killed. */
const GONE_MS = promised(1_000);

describe('under load', () => {
  let system: System;
  before(async () => {
    system = await startSystem({ instances: 2 });
  });
  after(() => system.stop());

  /** Kills a part. Returns when it was killed and when it answers again. */
  async function killAndWait(part: string): Promise<{ killedAt: number; backAt: number }> {
    const pid = await system.pid(part);
    await system.kill(part);
    const killedAt = performance.now();
    await until(async () => (await isBack(part, pid)) || undefined, 30_000, `${part} is back`);
    return { killedAt, backAt: performance.now() };
  }

  async function isBack(part: string, former: number | undefined): Promise<boolean> {
    const { processes } = await system.gateway.status();
    return processes.some(
      ({ name, phase, pid }) =>
        name === part && pid !== former && (phase === 'ready' || phase === 'running'),
    );
  }

  for (const part of ['controlplane', 'sds']) {
    test(`no request is lost when ${part} is killed`, async t => {
      const load = startLoad({ base: system.edge, path: '/user/health' });
      const { backAt, killedAt } = await killAndWait(part);
      await answersAfter(load, backAt, 50);
      const tally = await load.stop();
      t.diagnostic(`${part} was away for ${Math.round(backAt - killedAt)} ms`);
      report(t, tally);
      assert.deepEqual(tally.failures, []);
      assert.equal(tally.hostnames.size, 2);
    });
  }

  for (const part of [FIRST, `${FIRST}-proxy`]) {
    test(`no GET is lost when ${part} is killed, and it comes back`, async t => {
      const load = startLoad({ base: system.edge, path: '/user/health' });
      await answersAfter(load, 0, 50);
      const { killedAt } = await killAndWait(part);
      const served = await until(
        () => firstAnswerOf(FIRST, load, killedAt + 50),
        30_000,
        `${FIRST} answers`,
      );
      const tally = await load.stop();
      t.diagnostic(`${part} served again after ${Math.round(served.endedAt - killedAt)} ms`);
      report(t, tally);
      assert.deepEqual(tally.failures, []);
    });
  }

  test('an instance that is gone gets no request after 1 s, and some when it is back', async t => {
    const { service: port } = instancePorts(system.gateway.portOffset, 1);
    const load = startLoad({ base: system.edge, path: '/user/health' });
    await answersAfter(load, 0, 50);
    // The server that takes its port sees what is still sent there, and keeps the part from coming
    // back.
    const impostor = await system.whileAway(FIRST, () =>
      until(() => startUpstream(IMPOSTOR, port).catch(() => undefined)),
    );
    const killedAt = performance.now();
    await answersAfter(load, killedAt + GONE_MS, 50);
    await impostor.close();
    await until(() => firstAnswerOf(FIRST, load, killedAt), 30_000, `${FIRST} answers`);
    const tally = await load.stop();
    report(t, tally);
    const misled = tally.samples.filter(({ hostname }) => hostname === IMPOSTOR);
    t.diagnostic(`${misled.length} requests went to its port until it was gone`);
    assert.deepEqual(
      [...misled, ...tally.failures].filter(({ sentAt }) => sentAt > killedAt + GONE_MS),
      [],
    );
  });
});

function report(t: TestContext, { failures, hostnames, requests }: Tally): void {
  t.diagnostic(
    `${requests} requests, ${failures.length} failed, by ${JSON.stringify([...hostnames])}`,
  );
}

async function answersAfter(load: Load, time: number, count: number): Promise<void> {
  const enough = () => load.tally().samples.filter(({ sentAt }) => sentAt > time).length >= count;
  await until(() => enough() || undefined, 30_000, `${count} answers`);
}

function firstAnswerOf(hostname: string, load: Load, time: number): Sample | undefined {
  return load.tally().samples.find(sample => sample.sentAt > time && sample.hostname === hostname);
}
