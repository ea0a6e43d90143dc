import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ClientDuplexStream, credentials, makeClientConstructor } from '@grpc/grpc-js';
import { issueIdentity } from '#certificates/authority/leaf.ts';
import { issueRoot } from '#certificates/authority/root.ts';
import { expectGroups } from '#certificates/peer.ts';
import { readTlsFiles } from '#certificates/tls-files.ts';
import type { TlsMaterial } from '#certificates/tls-material.ts';
import { until } from '#envoy/e2e/until.ts';
import { serviceDefinition } from '#grpc/service.ts';
import { SECRET } from '#protos/type-url.ts';
import { startSds } from '../testing/sds-process.ts';

const SDS = 'envoy.service.secret.v3.SecretDiscoveryService';

type Response = { readonly resources: readonly { readonly name: string }[] };

/** An sds whose port speaks mutual TLS by an identity that it writes itself. */
async function setUp(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'identities-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const sds = await startSds(t, 'services: {}', {
    IDENTITY_FOLDER: folder,
    IDENTITIES: 'sds,edge,user-service',
    TLS_FOLDER: join(folder, 'sds'),
    XDS_ADDRESS: '127.0.0.1:1',
    HTTP_ADDRESS: '127.0.0.1:0',
  });
  const identity = (group: string) => {
    const files = readTlsFiles(join(folder, group));
    if ('error' in files) throw new Error(files.error);
    return files.material;
  };
  /**
   * Asks as a proxy of `cluster`, with `material` as its identity. Returns the names that it got,
   * or why it got none.
   */
  const ask = async (cluster: string, { certificate, key, ca }: TlsMaterial) => {
    const Client = makeClientConstructor(serviceDefinition(SDS), SDS);
    const secure = credentials.createSsl(
      Buffer.from(ca),
      Buffer.from(key),
      Buffer.from(certificate),
      {
        checkServerIdentity: expectGroups(['sds'], 'gateway.internal'),
      },
    );
    const client = new Client(`127.0.0.1:${sds.port}`, secure);
    t.after(() => client.close());
    const open = client.DeltaSecrets as () => ClientDuplexStream<object, Response>;
    const stream = open.call(client);
    const got = new Promise<string>(resolve => {
      stream.on('data', ({ resources }: Response) =>
        resolve(
          resources
            .map(({ name }) => name)
            .toSorted()
            .join(),
        ),
      );
      stream.on('error', error => resolve(error.message));
    });
    stream.write({
      node: { id: 'test', cluster },
      type_url: SECRET,
      resource_names_subscribe: ['gateway/identity', 'gateway/roots'],
    });
    return got;
  };
  return { sds, identity, ask };
}

test('a proxy that proves its group gets its secrets; one that claims another group is told why not', async t => {
  const { identity, ask } = await setUp(t);
  assert.equal(await ask('edge', identity('edge')), 'gateway/identity,gateway/roots');
  assert.match(
    await ask('user-service', identity('edge')),
    /PERMISSION_DENIED: node\.cluster is "user-service", but the certificate is of edge/,
  );
  assert.match(
    await ask('sds', identity('sds')),
    /PERMISSION_DENIED: sds is a service of the gateway/,
  );
});

test('strangers get nothing: another authority, plain gRPC, plain HTTP', async t => {
  const { sds, identity, ask } = await setUp(t);
  const lifetime = { now: Date.now(), lifetimeMs: 3_600_000 };
  const foreign = await issueIdentity(
    await issueRoot(lifetime),
    { trustDomain: 'gateway.internal', group: 'edge' },
    lifetime,
  );
  assert.match(await ask('edge', { ...foreign, ca: identity('edge').ca }), /UNAVAILABLE/);
  await assert.rejects(fetch(`${sds.url}/status`));
  const socket = net.connect(sds.port, '127.0.0.1');
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const heard: Buffer[] = [];
  socket.on('data', chunk => heard.push(chunk)).on('error', () => {});
  await until(() => (socket.destroyed || socket.readableEnded ? true : undefined));
  assert.ok(Buffer.concat(heard).length < 16, 'a TLS alert at most');
});

test('probes and monitoring alone are answered in plain HTTP on a port of their own', async t => {
  const { sds } = await setUp(t);
  const port = await until(() => /"http":(\d+)/.exec(sds.log())?.[1]);
  const ask = async (path: string, method = 'GET') =>
    (await fetch(`http://127.0.0.1:${port}/${path}`, { method })).status;
  for (const path of ['healthz', 'status', 'metrics']) assert.equal(await ask(path), 200, path);
  // It listens before it is ready.
  assert.ok(await until(async () => (await ask('readyz')) === 200 || undefined));
  assert.equal(await ask('v1/registration/user-service'), 404);
  assert.equal(await ask('v3/discovery:endpoints', 'POST'), 404);
});
