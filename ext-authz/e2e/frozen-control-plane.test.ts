import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bootstrap } from '#envoy/bootstrap.ts';
import { type ControlPlaneProcess, startControlPlane } from '#envoy/e2e/control-plane-process.ts';
import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { request } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import { startUpstream, type Upstream } from '#envoy/e2e/upstream.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { freePort } from '#grpc/testing/free-port.ts';

const EXT_AUTHZ = join(import.meta.dirname, '..', 'main.ts');

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
/** Nobody has a token, so no key is ever needed. */
const TOKENS = document('Filter', 'tokens', '{ JWT: { jwksURI: "http://127.0.0.1:9/keys" } }');

describe('of two control planes, the one that ext-authz was given first', () => {
  const folder = mkdtempSync(join(tmpdir(), 'frozen-control-plane-'));
  const resources = join(folder, 'resources');
  const ends: (() => unknown)[] = [];
  let upstream: Upstream;
  let edge: string;
  let other: ControlPlaneProcess;

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

  before(async () => {
    mkdirSync(resources);
    upstream = await startUpstream('secret');
    ends.unshift(() => upstream.close());
    write('first.yaml', TOKENS + guarded('first'));
    edge = `127.0.0.1:${await freePort()}`;
    const authz = `127.0.0.1:${await freePort()}`;
    const start = async (name: string) => {
      const env = { EXT_AUTHZ_ADDRESS: authz };
      const plane = await startControlPlane({ resources, state: join(folder, name), edge, env });
      ends.unshift(plane.kill);
      return plane;
    };
    const one = await start('one');
    other = await start('other');
    const own = {
      ...{ ADDRESS: authz, WORKERS: '1', STATE: join(folder, 'ext-authz') },
      ...{ XDS_ADDRESS: other.xds, REPORT_ADDRESSES: `${one.xds},${other.xds}` },
    };
    const child = spawn(process.execPath, [EXT_AUTHZ], {
      env: { ...process.env, ...own },
      stdio: 'ignore',
    });
    ends.unshift(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    const envoy = await startEnvoy(
      bootstrap({
        ...{ nodeId: 'edge-1', group: 'edge' },
        ...{ xdsAddress: one.xds, sdsAddress: '127.0.0.1:1' },
      }),
    );
    ends.unshift(envoy.stop);
    await until(async () => (await ask('/first/x').catch(() => 0)) === 401 || undefined, 60_000);
  });
  after(async () => {
    for (const end of ends) await end();
    rmSync(folder, { recursive: true, force: true });
  });

  test('hangs, and a new route is never open, since the other told its rule', async () => {
    process.kill(other.pid, 'SIGSTOP');
    write('second.yaml', guarded('second'));
    assert.equal(await served('/second/x'), 401);
  });

  test('goes on, and both are followed again', async () => {
    process.kill(other.pid, 'SIGCONT');
    write('third.yaml', guarded('third'));
    assert.equal(await served('/third/x'), 401);
    rmSync(join(resources, 'second.yaml'));
    await until(async () => (await ask('/second/x')) === 404 || undefined, 60_000);
    assert.equal(await ask('/first/x'), 401);
  });
});
