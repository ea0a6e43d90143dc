import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client, Metadata } from '@grpc/grpc-js';
import { until } from '#envoy/e2e/until.ts';
import { serve } from '#grpc/serve.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import type { TlsMaterial } from '#grpc/tls.ts';
import { openMutualTls } from './mutual-tls.ts';

const AUTHORITY = await testAuthority();

async function setUp(t: TestContext, group: string, now = Date.now) {
  const folder = mkdtempSync(join(tmpdir(), 'identity-'));
  const write = ({ certificate, key, ca }: TlsMaterial) => {
    writeFileSync(join(folder, 'tls.crt'), certificate);
    writeFileSync(join(folder, 'tls.key'), key);
    writeFileSync(join(folder, 'ca.crt'), ca);
  };
  write(await AUTHORITY.issue(`spiffe://a.test/group/${group}`));
  const logged: object[] = [];
  const note = (line: object) => logged.push(line);
  const log = { info: note, warn: note, error: note };
  const tls = await openMutualTls(folder, { group, log, now, waitMs: 0 });
  t.after(() => {
    tls.close();
    rmSync(folder, { recursive: true });
  });
  return { tls, write, logged, folder };
}

type Tls = Awaited<ReturnType<typeof setUp>>['tls'];

async function startServer(t: TestContext, tls: Tls, groups?: readonly string[]) {
  const options = tls.server(groups && (group => groups.includes(group)));
  const served = await serve({ host: '127.0.0.1', port: 0, services: {}, tls: options });
  t.after(() => served.stop(0));
  return served.port;
}

/** Resolves when health is answered, else rejects with gRPC's error. */
function ask(t: TestContext, port: number, tls: Tls, server: string): Promise<void> {
  const client = new Client(`127.0.0.1:${port}`, tls.client(server), {
    'grpc.use_local_subchannel_pool': 1,
  });
  t.after(() => client.close());
  const empty = () => Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const answered = (error: Error | null) => (error === null ? resolve() : reject(error));
    client.makeUnaryRequest(
      '/grpc.health.v1.Health/Check',
      empty,
      empty,
      {},
      new Metadata(),
      answered,
    );
  });
}

test('services talk to each other by their identities', async t => {
  const server = await setUp(t, 'controlplane');
  const client = await setUp(t, 'ext-authz');
  assert.equal(client.tls.trustDomain, 'a.test');
  await ask(t, await startServer(t, server.tls), client.tls, 'controlplane');
});

for (const name of ['spiffe://a.test/group/edge', 'spiffe://b.test/group/controlplane'])
  test(`a change to the identity ${name} is told, and the own one stays`, async t => {
    const server = await setUp(t, 'controlplane');
    const client = await setUp(t, 'ext-authz');
    const port = await startServer(t, server.tls);
    server.write(await AUTHORITY.issue(name));
    const reason = `${server.folder}/tls.crt is not the certificate of controlplane in the trust domain a.test`;
    await until(() => (server.logged.length > 0 ? true : undefined));
    assert.deepEqual(server.logged, [{ reason }]);
    await ask(t, port, client.tls, 'controlplane');
  });

test('a client talks to the service that it means and to no other', async t => {
  const server = await setUp(t, 'ratelimit-service');
  const client = await setUp(t, 'ext-authz');
  const port = await startServer(t, server.tls);
  await assert.rejects(ask(t, port, client.tls, 'controlplane'), /ratelimit-service/);
});

test('a server with groups accepts no others, and logs it once a second', async t => {
  const begun = Date.now();
  const server = await setUp(t, 'ext-authz', () => begun);
  const port = await startServer(t, server.tls, ['edge']);
  await ask(t, port, (await setUp(t, 'edge')).tls, 'ext-authz');
  const other = await setUp(t, 'user-service');
  await assert.rejects(ask(t, port, other.tls, 'ext-authz'));
  await assert.rejects(ask(t, port, other.tls, 'ext-authz'));
  assert.equal(server.logged.length, 1);
});

test('authorities are changed for new ones without a restart of either side', async t => {
  const server = await setUp(t, 'controlplane');
  const client = await setUp(t, 'ext-authz');
  const port = await startServer(t, server.tls);
  const next = await testAuthority();
  const serial = server.tls.server().current().certificate;
  server.write(await next.issue('spiffe://a.test/group/controlplane'));
  await until(() => (server.tls.server().current().certificate === serial ? undefined : true));
  await assert.rejects(ask(t, port, client.tls, 'controlplane'));
  const channel = new Client(`127.0.0.1:${port}`, client.tls.client('controlplane'), {
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 100,
  });
  t.after(() => channel.close());
  channel.getChannel().getConnectivityState(true);
  client.write(await next.issue('spiffe://a.test/group/ext-authz'));
  await new Promise<void>((resolve, reject) => {
    channel.waitForReady(Date.now() + 30_000, error =>
      error === undefined ? resolve() : reject(error),
    );
  });
});

test('a folder without an identity is refused with a sentence that names the variable', async () => {
  const log = { info() {}, warn() {}, error() {} };
  await assert.rejects(
    openMutualTls('/dev/null', { group: 'ext-authz', log, now: Date.now, waitMs: 0 }),
    {
      message:
        /^TLS_FOLDER: \/dev\/null\/tls\.crt .*: want tls\.crt, tls\.key and ca\.crt of ext-authz in \/dev\/null$/,
    },
  );
});

test('a folder with the identity of another service is refused with a sentence', async t => {
  const { folder } = await setUp(t, 'edge');
  await assert.rejects(
    openMutualTls(folder, {
      group: 'ext-authz',
      log: { info() {}, warn() {}, error() {} },
      now: Date.now,
      waitMs: 0,
    }),
    /tls\.crt is not the certificate of ext-authz/,
  );
});
