import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Layout } from './parts.ts';
import { whyNotReady } from './readiness.ts';
import type { System } from './system.ts';

const REASON = 'not ready: closed cannot be read, and no last good version of it is known';
const STARTING = 'ratelimit-service is starting (log: /logs/ratelimit-service.log)';

/** Returns what is said of a system whose control plane answers so, and with these processes. */
async function reasonFor(
  t: TestContext,
  answer: RequestListener,
  processes: Readonly<Record<string, 'starting' | 'running'>>,
  demo = false,
): Promise<string | undefined> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const children = Object.entries(processes).map(([name, phase]) => ({
    part: { name },
    phase,
    isReady: phase === 'running',
  }));
  const ports = { http: port, edge: port };
  return whyNotReady({
    layout: { demo, ports, state: { logs: '/logs' } } as unknown as Layout,
    system: { children, fleet: { instances: [{ number: 1 }] } } as unknown as System,
  });
}

test('processes that wait for resources are not named while the control plane says why', async t => {
  const refuse: RequestListener = (_, answer) => answer.writeHead(503).end(`${REASON}\n`);
  assert.equal(
    await reasonFor(t, refuse, { 'ratelimit-service': 'starting' }),
    `controlplane: ${REASON}`,
  );
});

test('a process is named when the control plane says nothing, or is ready', async t => {
  const mute: RequestListener = (_, answer) => answer.destroy();
  const ready: RequestListener = (_, answer) => answer.end('ready\n');
  for (const answer of [mute, ready])
    assert.equal(await reasonFor(t, answer, { 'ratelimit-service': 'starting' }), STARTING);
  assert.equal(await reasonFor(t, ready, {}), 'the edge is not started');
  assert.equal(await reasonFor(t, ready, { edge: 'running' }), undefined);
  assert.match((await reasonFor(t, mute, { edge: 'running' })) ?? '', /^controlplane: no answer /);
});

test('a demo that was edited may lead to another service', async t => {
  for (const [body, reason] of [
    ['{"hostname":"user-service-1"}', undefined],
    ['{"hostname":"another"}', 'user-service-1 does not answer through the edge'],
    ['<html>', 'user-service-1 does not answer through the edge'],
    ['null', 'user-service-1 does not answer through the edge'],
  ] as const)
    assert.equal(
      await reasonFor(t, (_, answer) => answer.end(body), { edge: 'running' }, true),
      reason,
    );
});
