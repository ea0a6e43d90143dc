import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SHARD_HEADER } from '#controlplane/compile/routes/shard-header.ts';
import { startLoad } from './load.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const mapping = (name: string, port: number, host = '') => `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: ${name} }
spec: { prefix: /${name}/, service: "127.0.0.1:${port}"${host} }
`;

const many = (count: number, port: number) =>
  Array.from({ length: count }, (_, index) => mapping(`many-${index}`, port)).join('---');

let system: System;
let blue: Upstream;
let green: Upstream;
before(async () => {
  blue = await startUpstream('blue');
  green = await startUpstream('green');
  system = await startSystem({ resources: { 'target.yaml': mapping('target', blue.port) } });
  await isAnswered('/target/');
});
after(async () => {
  await system.stop();
  await Promise.all([blue.close(), green.close()]);
});

const isAnswered = (path: string, wanted = 200) =>
  until(
    async () => (await request(system.edge, path)).status === wanted || undefined,
    30_000,
    `${path} is answered ${wanted}`,
  );

test('no request is lost while a table grows into shards, changes and shrinks back', async t => {
  const load = startLoad({ base: system.edge, path: '/target/' });
  for (const count of [300, 40, 400, 1_000, 70, 10]) {
    system.write('many.yaml', many(count, green.port));
    await isAnswered(`/many-${count - 1}/`);
    await isAnswered(`/many-${count}/`, 404);
    await isAnswered('/many-0/x');
    await load.more(30);
  }
  system.write('many.yaml', many(300, green.port));
  await isAnswered('/many-299/');
  for (const to of [green, blue, green]) {
    system.write('target.yaml', mapping('target', to.port));
    const changedAt = performance.now();
    const arrived = () =>
      load
        .tally()
        .samples.some(
          ({ hostname, sentAt }) =>
            sentAt > changedAt && hostname === (to === blue ? 'blue' : 'green'),
        );
    await until(() => arrived() || undefined, 30_000, 'the change arrives');
  }
  system.write('other.yaml', mapping('other', blue.port, ', host: other.test'));
  await until(
    async () =>
      (await request(system.edge, '/other/', { headers: { host: 'other.test' } })).status === 200 ||
      undefined,
    30_000,
    'the host is served',
  );
  assert.equal((await request(system.edge, '/other/')).status, 404);
  for (const [part, to] of [
    ['controlplane', blue],
    ['controlplane', green],
  ] as const) {
    await system.kill(part);
    system.write('target.yaml', mapping('target', to.port));
    const name = to === blue ? 'blue' : 'green';
    await until(
      async () =>
        (await request(system.edge, '/target/')).body.includes(`"hostname":"${name}"`) || undefined,
      30_000,
      `the change arrives after ${part} was killed`,
    );
  }
  await load.more(50);
  const { failures, requests } = await load.stop();
  t.diagnostic(`${requests} requests, ${failures.length} failed`);
  assert.deepEqual(failures.slice(0, 5), []);
  assert.ok(requests > 200, `only ${requests} requests`);
});

test('an Envoy that comes later gets all of it', async () => {
  system.write('many.yaml', many(300, green.port));
  await isAnswered('/many-299/');
  await system.kill('edge');
  await until(
    async () => {
      const answer = await request(system.edge, '/many-150/').catch(() => undefined);
      // It listens when it has all shards.
      if (answer !== undefined) assert.equal(answer.status, 200);
      return answer;
    },
    30_000,
    'the new Envoy answers',
  );
});

test('clients cannot choose a shard, and services do not see it', async () => {
  system.write('many.yaml', many(300, green.port));
  await isAnswered('/many-299/');
  for (const headers of [
    { [SHARD_HEADER]: '||/many-2' },
    { 'x-envoy-original-path': '/many-2/' },
  ]) {
    const asked = await request(system.edge, '/target/', { headers });
    assert.equal(asked.status, 200);
    assert.ok(!asked.body.includes('shard'), asked.body);
    assert.equal((await request(system.edge, '/nowhere', { headers })).status, 404);
  }
});
