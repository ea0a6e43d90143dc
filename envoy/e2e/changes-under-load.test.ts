import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { startLoad, type Tally } from './load.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream.ts';

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

function report(t: TestContext, { failures, requests }: Tally): void {
  t.diagnostic(`${requests} requests, ${failures.length} failed`);
  assert.deepEqual(failures.slice(0, 5), []);
  assert.ok(requests > 50, `only ${requests} requests`);
}

describe('under load clients do not notice', () => {
  let system: System;
  let blue: Upstream;
  let green: Upstream;
  before(async () => {
    blue = await startUpstream('blue');
    green = await startUpstream('green');
    system = await startSystem({ instances: 2 });
    system.write('target.yaml', mapping('target', blue.port));
    await system.statusWhen(({ resources }) => resources.some(({ id }) => id.endsWith('/target')));
  });
  after(async () => {
    await system.stop();
    await Promise.all([blue.close(), green.close()]);
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
    report(t, tally);
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
    report(t, await load.stop());
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
    report(t, await load.stop());
  });
});
