import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { DRAIN, RUN, startDrainingEnvoy } from '../testing/draining-envoy.ts';

/** Resolves with the response once its head is here. */
async function get(port: number, agent?: http.Agent): Promise<http.IncomingMessage> {
  const [response] = await once(http.get({ host: '127.0.0.1', port, agent }), 'response');
  return response.resume();
}

/**
 * Tells whether connections are refused.
 * @returns undefined while they are accepted
 */
async function refuses(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1');
  const refused = await Promise.race([once(socket, 'connect'), once(socket, 'error')]).then(
    () => undefined,
    () => true as const,
  );
  socket.destroy();
  return refused;
}

test('a container that is stopped answers what is in flight, takes nothing new, and ends', async t => {
  const { shell, status, port, reached } = await startDrainingEnvoy(t);
  const [answer, held] = [get(port), await reached()];
  shell.kill('SIGTERM');
  await until(() => refuses(port));
  assert.equal(shell.exitCode, null);
  // Docker sends a signal once. An operator may repeat it.
  shell.kill('SIGTERM');
  held.end();
  const { statusCode, headers } = await answer;
  assert.deepEqual([statusCode, headers.connection], [200, 'close']);
  assert.equal(await status, 0);
});

test('a connection without a request does not keep a container from ending', async t => {
  const { shell, status, port, reached } = await startDrainingEnvoy(t);
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const [answer, held] = [get(port, agent), await reached()];
  held.end();
  await once(await answer, 'end');
  shell.kill('SIGTERM');
  assert.equal(await status, 0);
});

test('a connection of Prometheus does not keep a container', { timeout: 60_000 }, async t => {
  const { statsPort, env } = await startDrainingEnvoy(t);
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const scrape = http.get({ host: '127.0.0.1', port: statsPort, path: '/stats/prometheus', agent });
  const [response] = await once(scrape, 'response');
  await once(response.resume(), 'end');
  const drain = spawn('bash', [DRAIN, '0', '3600'], { env, stdio: 'ignore' });
  t.after(() => drain.kill('SIGKILL'));
  assert.deepEqual(await once(drain, 'exit'), [0, null]);
});

test('a request that does not end is waited for until the time has passed', async t => {
  const { port, reached, env } = await startDrainingEnvoy(t);
  const request = http.get({ host: '127.0.0.1', port }).on('error', () => {});
  t.after(() => request.destroy());
  const [held] = [await reached()];
  const drain = spawn('bash', [DRAIN, '0', '1'], { env, stdio: 'ignore' });
  assert.deepEqual(await once(drain, 'exit'), [0, null]);
  assert.equal(held.destroyed, false);
});

test('while load balancers learn of the end, new connections are still accepted', async t => {
  const { port, reached, env } = await startDrainingEnvoy(t);
  const drain = spawn('bash', [DRAIN, '60', '0'], { env, stdio: 'ignore' });
  t.after(() => drain.kill('SIGKILL'));
  await until(async () => {
    const [answer, held] = [get(port), await reached()];
    held.end();
    return (await answer).headers.connection === 'close' || undefined;
  });
  assert.equal(await refuses(port), undefined);
});

test('a container whose Envoy ends by itself ends with its status', t => {
  const folder = mkdtempSync(join(tmpdir(), 'envoy-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [line, expected] of [
    ['exit 3', 3],
    ['kill -SEGV $$', 139],
  ] as const) {
    writeFileSync(join(folder, 'envoy'), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env.PATH}` };
    assert.equal(spawnSync('bash', [RUN], { env }).status, expected);
  }
});

test('a connection without HTTP keeps a container until it ends, and a bounded time at most', async t => {
  const { shell, status, tcpPort, port, env } = await startDrainingEnvoy(t);
  const socket = connect(tcpPort, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  // Bash counts whole seconds, so it waits for two at least.
  const drain = spawn('bash', [DRAIN, '0', '3'], { env, stdio: 'ignore' });
  const began = performance.now();
  assert.deepEqual(await once(drain, 'exit'), [0, null]);
  assert.ok(performance.now() - began > 1_500);
  shell.kill('SIGTERM');
  await until(() => refuses(port));
  assert.equal(shell.exitCode, null);
  socket.end();
  assert.equal(await status, 0);
});
