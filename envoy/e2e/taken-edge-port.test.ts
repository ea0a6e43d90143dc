import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Status } from '#controlplane/status/status.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { portsAt } from '#launcher/ports.ts';
import { type ControlPlaneProcess, startControlPlane } from './control-plane-process.ts';
import { type EnvoyProcess, startEnvoy } from './envoy-process.ts';
import { type OccupiedPort, occupyPort } from './occupied-port.ts';
import { claimPortOffset, type PortOffset } from './port-offset.ts';
import { getJson, request } from './request.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream.ts';

describe("when the edge's own port is taken at the first start", () => {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-taken-'));
  const resources = join(folder, 'resources');
  /** No other process takes its ports when they are free. */
  let ours: PortOffset;
  let taken: OccupiedPort;
  let controlPlane: ControlPlaneProcess;
  let envoy: EnvoyProcess;
  let upstream: Upstream;

  before(async () => {
    mkdirSync(resources);
    upstream = await startUpstream('upstream');
    ours = await claimPortOffset();
    taken = await occupyPort(portsAt(ours.offset).edge);
    write('first');
    const edge = `127.0.0.1:${taken.port}`;
    controlPlane = await startControlPlane({ resources, state: join(folder, 'state'), edge });
    const { xds } = controlPlane;
    envoy = await startEnvoy(
      bootstrap({ nodeId: 'edge-1', group: 'edge', xdsAddress: xds, sdsAddress: '127.0.0.1:1' }),
    );
  });
  after(async () => {
    await envoy.stop();
    await controlPlane.stop();
    await upstream.close();
    ours.release();
    rmSync(folder, { recursive: true, force: true });
  });

  function write(name: string): void {
    writeFileSync(
      join(resources, `${name}.yaml`),
      `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: ${name} }
spec: { prefix: /${name}, service: "127.0.0.1:${upstream.port}" }
`,
    );
  }

  /** Waits until the Envoy has the only Problem. */
  async function onlyEnvoyIsWrong(resourceCount: number): Promise<void> {
    const look = async () => {
      const { problems, resources } = await getJson<Status>(controlPlane.http, '/status');
      const wrong = problems.map(({ kind, name }) => `${kind} ${name}`).join();
      return resources.length === resourceCount && wrong === 'Envoy edge-1'
        ? problems[0]
        : undefined;
    };
    const problem = await until(look, 30_000, 'only the Envoy is wrong');
    assert.match(problem.message, /rejects its Listener: .*cannot bind.*Address already in use/);
  }

  test('the Problem is of the Envoy, and no resource is blamed', () => onlyEnvoyIsWrong(1));

  test('no resource is blamed either that is written then', async () => {
    write('second');
    await onlyEnvoyIsWrong(2);
  });

  test('the Envoy serves all when the port is free', async () => {
    await taken.free();
    const base = `http://127.0.0.1:${await envoy.listenerPort(`127.0.0.1:${taken.port}`)}`;
    const serves = async (path: string) => (await request(base, path)).status === 200 || undefined;
    for (const path of ['/first', '/second'])
      await until(() => serves(path), 30_000, `${path} is served`);
    await until(async () => {
      const { problems, resources } = await getJson<Status>(controlPlane.http, '/status');
      const settled = resources.every(({ state }) => state === 'in force');
      return (problems.length === 0 && settled) || undefined;
    });
  });
});
