import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { openKnowledge } from '#controlplane/knowledge/knowledge.ts';
import { until } from '#envoy/e2e/until.ts';
import { after } from '#process/after.ts';
import { drainedSource } from './instances/drained-source.ts';
import type { Instance } from './instances/instance.ts';
import { knowledgeMethods } from './knowledge.ts';
import { createMetrics } from './metrics.ts';
import { startServer } from './server.ts';
import { startSecretsServer, testAuthority } from './testing/test-secrets.ts';

function ask(t: TestContext, port: number) {
  const nowhere = { host: '127.0.0.1', port: 1 };
  const sds = { host: '127.0.0.1', port };
  const knowledge = openKnowledge({ extAuthz: nowhere, rateLimit: nowhere, sds });
  t.after(() => knowledge.close());
  return knowledge;
}

const [ONE, TWO, DOWN] = [
  { address: '127.0.0.1', port: 1 },
  { address: '::1', port: 2 },
  { address: '::1', port: 3, health_status: 'UNHEALTHY' },
] as const;

async function discovery(t: TestContext, services: Readonly<Record<string, readonly Instance[]>>) {
  const source = drainedSource({
    watch: onChange => {
      onChange(new Map(Object.entries(services)));
      return () => {};
    },
  });
  source.drain([TWO]);
  const server = await startServer({
    ...{ host: '127.0.0.1', port: 0, source, knowledge: knowledgeMethods(source, undefined) },
    ...{ metrics: createMetrics(), log: pino({ level: 'silent' }), now: Date.now, after },
  });
  t.after(() => server.stop(0));
  return ask(t, server.port);
}

test('discovery tells the instances of a service, also those that proxies do not get', async t => {
  const knowledge = await discovery(t, { users: [ONE, TWO, DOWN], orders: [ONE] });
  assert.deepEqual(await knowledge.instances(['users', 'users:80', 'none']), [
    { service: 'users', instances: listed(), more: false },
    { service: 'users:80', instances: listed(), more: false },
  ]);
  assert.deepEqual(
    (await knowledge.instances([], ONE)).map(({ service }) => service),
    ['users', 'orders'],
  );
  assert.deepEqual(await knowledge.instances([], { address: '10.0.0.1', port: 1 }), []);
  assert.deepEqual(await knowledge.certificates(), []);
});

function listed() {
  return [
    { ...ONE, healthy: true, drained: false },
    { ...TWO, healthy: true, drained: true },
    { address: '::1', port: 3, healthy: false, drained: false },
  ];
}

test('of very many instances the first are told', async t => {
  const many = Array.from({ length: 501 }, (_, port) => ({ address: '::1', port: port + 1 }));
  const [users] = await (await discovery(t, { users: many })).instances(['users']);
  assert.deepEqual([users?.instances.length, users?.more], [500, true]);
});

test('discovery tells the ends of its roots and identities, and no key', async t => {
  const { port, secrets } = await startSecretsServer(t, await testAuthority(t), {
    written: () => [['ext-authz', { serial: 'a1', notAfter: 5 }]],
  });
  secrets.connected('edge');
  const knowledge = ask(t, port);
  const [written, ...others] = await until(async () => {
    const all = await knowledge.certificates();
    return all.length === 3 ? all : undefined;
  });
  assert.deepEqual(written, {
    ...{ kind: 'written', name: 'ext-authz', serial: 'a1', ends: 5, problem: '' },
  });
  assert.deepEqual(
    others.map(({ kind, name }) => [kind, name]),
    [
      ['identity', 'edge'],
      ['root', ''],
    ],
  );
});
