import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeTlsFolder } from '#certificates/write-tls-folder.ts';
import { serve } from '#grpc/serve.ts';
import { changingTls, testAuthority } from '#grpc/testing/test-authority.ts';
import { after } from '#process/after.ts';
import { encode } from '#protos/encode.ts';
import { DISCOVERY } from '#xds/discovery-methods.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import { bootstrap } from '../bootstrap.ts';
import { toEnvoyYaml } from '../envoy-yaml.ts';
import { identitySecret } from '../identity-tls.ts';
import { startEnvoy } from './envoy-process.ts';
import { until } from './until.ts';
import { validate } from './validate.ts';

const AUTHORITY = await testAuthority();
const id = (group: string) => `spiffe://gateway.internal/group/${group}`;

/**
 * Starts a control plane of group `server`, and makes the bootstrap of an edge that is to talk to
 * it.
 */
async function setUp(t: TestContext, server = 'controlplane') {
  const folder = mkdtempSync(join(tmpdir(), 'identity-tls-'));
  const tlsFolder = join(folder, 'tls');
  const write = async (authority = AUTHORITY) => {
    const material = await authority.issue(id('edge'));
    writeTlsFolder(tlsFolder, material);
    return new X509Certificate(material.certificate).serialNumber;
  };
  const serial = await write();
  for (const name of ['identity', 'roots'] as const)
    writeFileSync(join(folder, `${name}.yaml`), toEnvoyYaml(identitySecret(name, tlsFolder)));
  const tls = changingTls(await AUTHORITY.issue(id(server)));
  const peers: (string | undefined)[] = [];
  const service = new DiscoveryService({
    cache: new SnapshotCache(),
    refuse: (_group, { certificate }) => {
      peers.push(certificate?.serialNumber);
      return undefined;
    },
    now: Date.now,
    after,
  });
  const services = service.implementations();
  const listen = (port: number) =>
    serve({ host: '127.0.0.1', port, services, ...DISCOVERY, tls: tls.options });
  let served = await listen(0);
  t.after(async () => {
    service.close();
    await served.stop(0);
    rmSync(folder, { recursive: true });
  });
  const address = `127.0.0.1:${served.port}`;
  const json = bootstrap({
    nodeId: 'edge-1',
    group: 'edge',
    xdsAddress: address,
    sdsAddress: address,
    identity: { tlsFolder, secretsFolder: folder, trustDomain: 'gateway.internal' },
  });
  const start = async () => {
    const envoy = await startEnvoy(json);
    t.after(() => envoy.stop());
    return envoy;
  };
  /** The server runs again at once, and all connections to it are new. */
  const restart = async () => {
    service.close();
    await served.stop(0);
    served = await listen(served.port);
  };
  return { ...tls, json, peers, restart, serial, start, write };
}

test('Envoy accepts a bootstrap with mutual TLS', async t => {
  const { json } = await setUp(t);
  encode('envoy.config.bootstrap.v3.Bootstrap', json);
  assert.equal(await validate(json), undefined);
});

test('an Envoy shows the certificate of its folder, and that of after a renewal, with new roots too', async t => {
  const { change, peers, restart, serial, start, write } = await setUp(t);
  const envoy = await start();
  await until(() => peers[0]);
  assert.equal(peers[0], serial);
  const next = await testAuthority();
  const renewed = await write(next);
  change(await next.issue(id('controlplane')));
  await until(async () => (await envoy.get('/certs')).includes(renewed.toLowerCase()) || undefined);
  await restart();
  await until(() => (peers.includes(renewed) ? true : undefined));
  assert.doesNotMatch(envoy.log(), /critical|CERTIFICATE|Failed/);
});

test('an Envoy does not talk to another service of ours in the place of the control plane', async t => {
  const { peers, start } = await setUp(t, 'ratelimit-service');
  const envoy = await start();
  await until(
    async () =>
      /cluster.controlplane.ssl.fail_verify_san: [1-9]/.test(await envoy.get('/stats')) ||
      undefined,
  );
  assert.deepEqual(peers, []);
});
