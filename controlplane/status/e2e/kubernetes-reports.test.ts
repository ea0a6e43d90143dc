import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  inCluster,
  leads,
  reasons,
  type Status,
  statusWhen,
} from '#controlplane/testing/in-cluster.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import type { ControlPlaneProcess } from '#envoy/e2e/control-plane-process.ts';
import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import {
  applyDefinitions,
  create,
  type Document,
  read,
} from '#resources/kubernetes/testing/objects.ts';
import { startSds } from '../../../sds/testing/sds-process.ts';
import type { Status as PlaneStatus } from '../status.ts';

const NAMESPACE = 'reported';
const NAME = 'files.example';
const EXT_AUTHZ = join(import.meta.dirname, '..', '..', '..', 'ext-authz', 'main.ts');

const isTaken = (status: Status) =>
  reasons(status) === 'Accepted=True:Accepted Programmed=True:Programmed';
const hasProblem = (status: Status) => status.problems?.length === 1;

describe('what services report, with two control planes', {
  skip: whyNoKubeApiserver() ?? false,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'reported-'));
  const ends: (() => unknown)[] = [];
  const later = { after: (end: () => unknown) => void ends.unshift(end) };
  let api: KubeApiserver;
  let provider: HostileProvider;
  let pair: { readonly certificate: string; readonly key: string };
  /** The control plane that writes, and the other. */
  let [one, other]: ControlPlaneProcess[] = [];

  const document = (kind: string, name: string, spec: object): Document => {
    return {
      apiVersion: 'gateway.internal/v2',
      kind,
      metadata: { name, namespace: NAMESPACE },
      spec,
    };
  };
  const tls = {
    cert_chain_file: join(folder, 'tls.crt'),
    private_key_file: join(folder, 'tls.key'),
  };
  const host = document('Host', 'files', { hostname: NAME, tls });
  const keys = () => document('Filter', 'keys', { JWT: { jwksURI: `${provider.issuer}/jwks` } });

  before(async () => {
    later.after(() => rmSync(folder, { recursive: true, force: true }));
    [api, provider] = await Promise.all([startKubeApiserver(), startHostileProvider()]);
    later.after(() => api.remove());
    later.after(() => provider.close());
    pair = await (await testAuthority()).issue(NAME);
    await applyDefinitions(api.admin);
    const cluster = await inCluster(api, NAMESPACE);
    later.after(cluster.remove);
    one = await startPlane(cluster);
    other = await startPlane(cluster);
    provider.behave('jwks', () => ({ status: 404 }));
    await create(api.admin, host);
    await create(api.admin, keys());
  });
  after(async () => {
    for (const end of ends) await end();
  });

  /** Starts a control plane with an Envoy. It leads if it is the first. */
  async function startPlane(
    cluster: Awaited<ReturnType<typeof inCluster>>,
  ): Promise<ControlPlaneProcess> {
    const plane = await cluster.start();
    later.after(plane.kill);
    const { xds: xdsAddress } = plane;
    const envoy = await startEnvoy(
      bootstrap({ nodeId: 'edge-1', group: 'edge', xdsAddress, sdsAddress: '127.0.0.1:1' }),
    );
    later.after(envoy.stop);
    await until(async () => (one !== undefined || (await leads(plane)) === 1 ? true : undefined));
    return plane;
  }

  /**
   * Returns a service's environment. The service follows this control plane, and both get its
   * reports.
   */
  const following = (plane: ControlPlaneProcess | undefined) => {
    const env = { REPORT_ADDRESSES: `${one?.xds},${other?.xds}`, CERTIFICATE_FILES: folder };
    return { ...env, XDS_ADDRESS: plane?.xds ?? '' };
  };
  function startExtAuthz(plane: ControlPlaneProcess | undefined): void {
    const own = { ADDRESS: '127.0.0.1:0', WORKERS: '1', STATE: join(folder, 'ext-authz') };
    const env = { ...process.env, ...following(plane), ...own };
    const child = spawn(process.execPath, [EXT_AUTHZ], { env, stdio: 'ignore' });
    later.after(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
  }

  const write = (name: string, text: string) => writeWhole(join(folder, name), text);
  const statusOf = (object: Document, wanted: (status: Status) => boolean) =>
    statusWhen(api, object, wanted);
  const problemsOf = async (plane: ControlPlaneProcess | undefined) => {
    const { problems } = (await (await fetch(`${plane?.http}/status`)).json()) as PlaneStatus;
    return problems.map(({ kind, name }) => `${kind} ${name}`).sort();
  };
  const said = (plane: ControlPlaneProcess | undefined, ...about: readonly string[]) =>
    until(
      async () => ((await problemsOf(plane)).join() === about.join() ? true : undefined),
      30_000,
      about.join(),
    );

  test('is told by both, and stands in the objects, whichever of them a service follows', async () => {
    await startSds(later, 'services: {}', following(other));
    startExtAuthz(one);
    for (const plane of [one, other]) await said(plane, 'Filter keys', 'Host files');
    const [ofHost, ofFilter] = [
      await statusOf(host, hasProblem),
      await statusOf(keys(), hasProblem),
    ];
    assert.equal(reasons(ofHost), 'Accepted=False:Problems Programmed=False:OutOfService');
    assert.match(ofHost.problems?.[0]?.message ?? '', /is missing/);
    assert.match(ofFilter.problems?.[0]?.message ?? '', /status 404/);
  });

  test('is said once, though the same is said by another', async () => {
    const again = await startSds(later, 'services: {}', following(one));
    await until(async () => (/is missing/.test(again.log()) ? true : undefined));
    const services = async () => {
      const { proxies } = (await (await fetch(`${one?.http}/status`)).json()) as PlaneStatus;
      return proxies.map(({ group }) => group).sort();
    };
    await until(async () => ((await services()).includes('sds') ? true : undefined));
    assert.deepEqual(
      await services(),
      ['edge', 'ext-authz', 'ext-authz', 'sds'],
      'who only reports is no proxy, and ext-authz follows all beside the one it was given',
    );
    assert.deepEqual(await problemsOf(one), ['Filter keys', 'Host files']);
  });

  test('is over everywhere when it is fixed', async () => {
    write('tls.crt', pair.certificate);
    write('tls.key', pair.key);
    provider.reset();
    for (const plane of [one, other]) await said(plane);
    for (const object of [host, keys()])
      assert.deepEqual((await statusOf(object, isTaken)).problems, []);
  });

  test('outlives the one that wrote it, and is taken back by the next', async () => {
    write('tls.crt', 'no certificate');
    await said(other, 'Host files');
    const before = await statusOf(host, hasProblem);
    const versions = async () => (await read(api.admin, host))?.metadata.resourceVersion;
    const version = await versions();
    await one?.kill();
    const next = document('Mapping', 'next', { prefix: '/next/', service: '127.0.0.1:1' });
    await create(api.admin, next);
    await statusOf(next, isTaken);
    assert.equal(other && (await leads(other)), 1);
    assert.deepEqual(await statusOf(host, hasProblem), before);
    assert.equal(await versions(), version, 'it was never taken back');
    write('tls.crt', pair.certificate);
    assert.deepEqual((await statusOf(host, isTaken)).problems, []);
  });
});
