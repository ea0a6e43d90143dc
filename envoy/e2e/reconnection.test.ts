import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { promised } from './promised.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { tryConnect } from './try-connect.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream.ts';

function mapping(prefix: string, port: number): string {
  return `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: late }
spec: { prefix: ${prefix}, service: "127.0.0.1:${port}" }
`;
}

describe('a control plane that was away', () => {
  let system: System;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream('late');
    const resources = { 'late.yaml': mapping('/before', upstream.port) };
    system = await startSystem({ instances: 1, resources });
  });
  after(async () => {
    await system.stop();
    await upstream.close();
  });

  test('has its proxies back in less than 1 s, and what was edited meanwhile is in effect', async t => {
    const statusOf = async (path: string) => (await request(system.edge, path)).status;
    assert.deepEqual([await statusOf('/before'), await statusOf('/after')], [200, 404]);
    // After three kills it stays away for the longer pauses of its supervisor.
    let goneAt = 0;
    for (let outage = 1; outage <= 3; outage++) {
      const killed = await system.kill('controlplane');
      goneAt = performance.now();
      if (outage === 1) system.write('late.yaml', mapping('/after', upstream.port));
      // The supervisor may still name the dead process.
      const isBack = (pid: number | undefined) => pid !== undefined && pid !== killed;
      await until(async () => isBack(await system.pid('controlplane')) || undefined);
    }
    await until(
      async () => (await tryConnect(system.ports.xds)) || undefined,
      30_000,
      'xDS is served',
    );
    const servedAt = performance.now();
    const { proxies } = await system.statusWhen(({ proxies }) => {
      return ['edge', 'user-service-1'].every(group =>
        proxies.some(proxy => proxy.group === group),
      );
    });
    const connectedAt = performance.now();
    await until(
      async () => (await statusOf('/after')) === 200 || undefined,
      30_000,
      '/after is served',
    );
    const inEffectAt = performance.now();
    assert.equal(await statusOf('/before'), 404);
    t.diagnostic(`the control plane was away for ${Math.round(servedAt - goneAt)} ms`);
    t.diagnostic(
      `its ${proxies.length} proxies were back ${Math.round(connectedAt - servedAt)} ms later`,
    );
    t.diagnostic(`the edit was in effect ${Math.round(inEffectAt - servedAt)} ms later`);
    assert.ok(connectedAt - servedAt < promised(1_000));
  });
});
