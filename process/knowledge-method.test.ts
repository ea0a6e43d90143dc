import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client, credentials, status } from '@grpc/grpc-js';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { serveUnary } from '#grpc/unary/serve-unary.ts';
import { isControlPlane, knowledgeMethod } from './knowledge-method.ts';
import { openMutualTls } from './mutual-tls.ts';

const AUTHORITY = await testAuthority();
const PATH = '/gateway.service.v1.CounterKnowledge/ListCounters';
const method = knowledgeMethod(
  'CounterKnowledge',
  'ListCounters',
  ({ most }) => {
    if (most === 7) throw new Error('a mistake of ours, with a secret');
    if (most === 8) throw new RangeError('the store is away, with a secret');
    return { store: `asked for ${most}` };
  },
  error => error instanceof RangeError,
);

async function identity(t: TestContext, group: string) {
  const folder = mkdtempSync(join(tmpdir(), 'identity-'));
  const { ca, certificate, key } = await AUTHORITY.issue(`spiffe://a.test/group/${group}`);
  for (const [name, text] of [
    ['tls.crt', certificate],
    ['tls.key', key],
    ['ca.crt', ca],
  ] as const)
    writeFileSync(join(folder, name), text);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const tls = await openMutualTls(folder, { group, log, now: Date.now, waitMs: 0 });
  t.after(() => {
    tls.close();
    rmSync(folder, { recursive: true });
  });
  return tls;
}

async function serve(t: TestContext, tls?: Awaited<ReturnType<typeof identity>>) {
  const options = tls && { tls: tls.server(group => ['edge', 'controlplane'].includes(group)) };
  const served = await serveUnary({
    ...{ host: '127.0.0.1', port: 0, methods: [method], onError: () => {} },
    ...options,
  });
  t.after(() => served.stop(0));
  return served.port;
}

function ask(t: TestContext, port: number, bytes: Buffer, as = credentials.createInsecure()) {
  const client = new Client(`127.0.0.1:${port}`, as, { 'grpc.use_local_subchannel_pool': 1 });
  t.after(() => client.close());
  return new Promise<{ code: number; text: string }>(resolve =>
    client.makeUnaryRequest(
      PATH,
      (sent: Buffer) => sent,
      (got: Buffer) => got,
      bytes,
      (error, got) =>
        resolve({ code: error?.code ?? 0, text: error?.details ?? got?.toString() ?? '' }),
    ),
  );
}

const most = (number: number) => Buffer.from([8, number]);

test('by mutual TLS the control plane is answered, and no other service', async t => {
  const port = await serve(t, await identity(t, 'ratelimit-service'));
  const call = async (group: string) =>
    ask(t, port, most(3), (await identity(t, group)).client('ratelimit-service'));
  assert.match((await call('controlplane')).text, /asked for 3/);
  assert.equal((await call('edge')).code, status.PERMISSION_DENIED);
  for (const group of ['orders', 'ext-authz', 'sds'])
    assert.equal((await call(group)).code, status.UNAVAILABLE, group);
  assert.equal((await ask(t, port, most(3))).code, status.UNAVAILABLE, 'plain text');
});

test('without TLS processes of this machine are answered, and no others', async t => {
  const port = await serve(t);
  assert.match((await ask(t, port, Buffer.alloc(0))).text, /asked for 0/);
  for (const address of [
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '',
    'localhost',
    '127.0.0.1.evil',
    '1.127.0.0',
    '::',
  ])
    assert.equal(isControlPlane({ address, certificate: undefined }), false, address);
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1'])
    assert.equal(isControlPlane({ address, certificate: undefined }), true, address);
});

test('a certificate counts by its only identity, also on the loopback', async () => {
  const issued = async (names: string | readonly string[]) => {
    const { certificate } = await AUTHORITY.issue(names);
    return isControlPlane({ address: '127.0.0.1', certificate: new X509Certificate(certificate) });
  };
  assert.equal(await issued('spiffe://a.test/group/controlplane'), true);
  for (const names of [
    'spiffe://a.test/group/edge',
    'spiffe://a.test/group/controlplane/x',
    'spiffe://a.test/group/controlplanes',
    'spiffe://a.test/controlplane',
    'https://a.test/group/controlplane',
    ['spiffe://a.test/group/edge', 'spiffe://a.test/group/controlplane'],
    'controlplane',
  ])
    assert.equal(await issued(names), false, String(names));
});

test('what is malformed or too long is refused, and the reason of a failure stays inside', async t => {
  const port = await serve(t);
  for (const bytes of [Buffer.from([8]), Buffer.from([0xff, 0xff])])
    assert.notEqual((await ask(t, port, bytes)).code, 0, bytes.toString('hex').slice(0, 8));
  const giant = await ask(t, port, Buffer.alloc(4 * 1024 * 1024 + 1));
  assert.equal(giant.code, status.RESOURCE_EXHAUSTED);
  const [ours, outage] = [await ask(t, port, most(7)), await ask(t, port, most(8))];
  assert.deepEqual([ours.code, outage.code], [status.INTERNAL, status.UNAVAILABLE]);
  assert.doesNotMatch(ours.text + outage.text, /secret/);
  assert.match((await ask(t, port, most(1))).text, /asked for 1/);
});
