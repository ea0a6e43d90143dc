import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { instancePorts } from '#launcher/ports.ts';
import { type Load, type Sample, startLoad, type Tally } from './load.ts';
import { promised } from './promised.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const FIRST = 'user-service-1';
const IMPOSTOR = 'impostor';

/** From then on nothing is sent to an instance that was killed. */
const GONE_MS = promised(1_000);

let system: System;
before(async () => {
  system = await startSystem({ instances: 2 });
});
after(() => system?.stop());

describe('under load', () => {
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

describe('under load clients do not notice', () => {
  let blue: Upstream;
  let green: Upstream;
  before(async () => {
    blue = await startUpstream('blue');
    green = await startUpstream('green');
    system.write('target.yaml', mapping('target', blue.port));
    await system.statusWhen(({ resources }) => resources.some(({ id }) => id.endsWith('/target')));
  });
  after(async () => {
    await Promise.all([blue?.close(), green?.close()]);
  });

  test('that the service is scaled from 2 to 4 to 2 instances', async t => {
    const load = startLoad({ base: system.edge, path: '/user/health' });
    const serving = () => load.tally().hostnames.size;
    assert.equal((await system.command('scale', '4', '--state', system.state)).code, 0);
    await until(() => serving() === 4 || undefined, 30_000, 'four instances answer');
    assert.equal((await system.command('scale', '2', '--state', system.state)).code, 0);
    const scaledAt = performance.now();
    await load.more(50);
    const tally = await load.stop();
    const late = tally.samples.filter(({ sentAt }) => sentAt > scaledAt);
    assert.deepEqual(new Set(late.map(({ hostname }) => hostname)).size, 2);
    reportAll(t, tally);
  });

  test('that the service is scaled down while its discovery hangs', async t => {
    assert.equal((await system.command('scale', '4', '--state', system.state)).code, 0);
    const load = startLoad({ base: system.edge, path: '/user/health', perSecond: 100 });
    await until(() => load.tally().hostnames.size === 4 || undefined, 30_000, 'four answer');
    const sds = (await system.pid('sds')) ?? 0;
    process.kill(sds, 'SIGSTOP');
    t.after(() => process.kill(sds, 'SIGCONT'));
    const scaled = system.command('scale', '2', '--state', system.state);
    // In this time instances would end that the edge still sends requests to.
    await load.more(1_200);
    process.kill(sds, 'SIGCONT');
    assert.equal((await scaled).code, 0);
    await load.more(50);
    reportAll(t, await load.stop());
  });

  test('that the target of a Mapping goes back and forth 10 times', async t => {
    const load = startLoad({ base: system.edge, path: '/target' });
    for (let change = 1; change <= 10; change++) {
      const { port } = change % 2 === 0 ? blue : green;
      const wanted = change % 2 === 0 ? 'blue' : 'green';
      const changedAt = performance.now();
      system.write('target.yaml', mapping('target', port));
      const arrived = () =>
        load.tally().samples.some(s => s.sentAt > changedAt && s.hostname === wanted);
      await until(() => arrived() || undefined, 30_000, `change ${change} to ${wanted} arrives`);
    }
    await load.more(50);
    reportAll(t, await load.stop());
  });

  test('that a file is broken and mended', async t => {
    const load = startLoad({ base: system.edge, path: '/target' });
    for (const broken of ['kind: [', 'kind: Mapping\nspec: 5\n', '{{{']) {
      system.write('target.yaml', broken);
      await system.statusWhen(({ problems }) =>
        problems.some(({ file }) => file.endsWith('target.yaml')),
      );
      await load.more(50);
      system.write('target.yaml', mapping('target', blue.port));
      await system.statusWhen(
        ({ problems }) => !problems.some(({ file }) => file.endsWith('target.yaml')),
      );
    }
    reportAll(t, await load.stop());
  });
});

function mapping(name: string, port: number): string {
  return `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: ${name} }
spec:
  prefix: /${name}
  service: 127.0.0.1:${port}
`;
}

/** Fails unless there were enough requests, and all were answered. */
function reportAll(t: TestContext, { failures, requests }: Tally): void {
  t.diagnostic(`${requests} requests, ${failures.length} failed`);
  assert.deepEqual(failures.slice(0, 5), []);
  assert.ok(requests > 50, `only ${requests} requests`);
}

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
