import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Status } from '#controlplane/status/status.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { startControlPlane } from '#envoy/e2e/control-plane-process.ts';
import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { getJson, request } from '#envoy/e2e/request.ts';
import { statusWhen } from '#envoy/e2e/status-when.ts';
import { until } from '#envoy/e2e/until.ts';
import { startUpstream, type Upstream } from '#envoy/e2e/upstream.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { type CutProxy, startCutProxy } from '#kubernetes/testing/cut-proxy.ts';

const EXT_AUTHZ = join(import.meta.dirname, '..', 'main.ts');

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
/** Nobody has a token, so no key is ever needed. */
const TOKENS = document('Filter', 'tokens', '{ JWT: { jwksURI: "http://127.0.0.1:9/keys" } }');

describe('an ext-authz that proxies reach', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lost-control-plane-'));
  const resources = join(folder, 'resources');
  const ends: (() => unknown)[] = [];
  let upstream: Upstream;
  let edge: string;
  let wire: CutProxy;
  let pid: number;
  let status: () => Promise<Status>;

  const guarded = (name: string) =>
    document('Mapping', name, `{ prefix: /${name}/, service: "127.0.0.1:${upstream.port}" }`) +
    document(
      'FilterPolicy',
      name,
      `{ rules: [{ host: "*", path: "/${name}/*", filters: [{ name: tokens }] }] }`,
    );
  const write = (name: string, text: string) => writeWhole(join(resources, name), text);
  const ask = async (path: string) => (await request(`http://${edge}`, path)).status;
  /** Returns the first answer of a route that is served. */
  const served = (path: string) =>
    until(async () => {
      const status = await ask(path);
      return status === 404 ? undefined : status;
    }, 60_000);
  const answered = (path: string, wanted: number) =>
    until(async () => (await ask(path)) === wanted || undefined, 60_000, `${path} ${wanted}`);

  before(async () => {
    mkdirSync(resources);
    upstream = await startUpstream('secret');
    ends.unshift(() => upstream.close());
    write('first.yaml', TOKENS + guarded('first'));
    edge = `127.0.0.1:${await freePort()}`;
    const authz = `127.0.0.1:${await freePort()}`;
    const env = { EXT_AUTHZ_ADDRESS: authz };
    const plane = await startControlPlane({ resources, state: join(folder, 'plane'), edge, env });
    ends.unshift(plane.kill);
    status = () => getJson<Status>(plane.http, '/status');
    wire = await startCutProxy(Number(plane.xds.split(':')[1]));
    ends.unshift(wire.close);
    const own = {
      ...{ ADDRESS: authz, WORKERS: '1', STATE: join(folder, 'ext-authz') },
      XDS_ADDRESS: `127.0.0.1:${wire.port}`,
    };
    const child = spawn(process.execPath, [EXT_AUTHZ], {
      env: { ...process.env, ...own },
      stdio: 'ignore',
    });
    pid = child.pid ?? 0;
    ends.unshift(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    const envoy = await startEnvoy(
      bootstrap({
        ...{ nodeId: 'edge-1', group: 'edge' },
        ...{ xdsAddress: plane.xds, sdsAddress: '127.0.0.1:1' },
      }),
    );
    ends.unshift(envoy.stop);
    await until(async () => (await ask('/first/x').catch(() => 0)) === 401 || undefined, 60_000);
    // The control plane goes by what it has seen ext-authz take.
    await statusWhen(status, ({ proxies }) =>
      proxies.some(({ group, standing }) => group === 'ext-authz' && standing === 'settled'),
    );
  });
  after(async () => {
    for (const end of ends) await end();
    rmSync(folder, { recursive: true, force: true });
  });

  test('and the control plane does not, leaves no new route open, and keeps the others', async () => {
    wire.cut();
    write('second.yaml', guarded('second'));
    assert.equal(await served('/second/x'), 500);
    assert.equal(await ask('/first/x'), 401);
    const isTold = ({ problems }: Status) =>
      problems.some(({ message }) => message.startsWith('ext-authz does not have this version'));
    await statusWhen(status, isTold);
    wire.mend();
    await answered('/second/x', 401);
    await statusWhen(status, now => !isTold(now));
  });

  test('and that hangs, leaves none open to the requests that wait for it', async () => {
    process.kill(pid, 'SIGSTOP');
    write('third.yaml', guarded('third'));
    const first = await served('/third/x');
    const waiting = Array.from({ length: 40 }, () => ask('/third/x'));
    process.kill(pid, 'SIGCONT');
    assert.deepEqual([...new Set([first, ...(await Promise.all(waiting))])].filter(isOpen), []);
    await answered('/third/x', 401);
  });
});

function isOpen(status: number): boolean {
  return status < 400;
}
