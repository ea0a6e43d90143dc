import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startFiguresSystem } from '#controlplane/figures/testing/figures-system.ts';
import { request } from '#envoy/e2e/request.ts';
import { statusWhen } from '#envoy/e2e/status-when.ts';
import { until } from '#envoy/e2e/until.ts';
import { startUpstream } from '#envoy/e2e/upstream.ts';

const MAPPING = (port: number) =>
  `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: { name: m }\nspec: { prefix: /m/, service: "127.0.0.1:${port}" }\n`;
const MONITOR = 'envoy.resource_monitors.injected_resource';

test('a proxy that turns requests away is told, until it takes them again', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-overload-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const filename = join(folder, 'pressure');
  // Envoy wants the file moved to its place.
  const press = (pressure: number) => {
    writeFileSync(`${filename}~`, String(pressure));
    renameSync(`${filename}~`, filename);
  };
  press(0);
  const upstream = await startUpstream('shop');
  t.after(() => upstream.close());
  const system = await startFiguresSystem(
    MAPPING(upstream.port),
    {},
    {
      overload_manager: {
        refresh_interval: '0.1s',
        resource_monitors: [
          {
            name: MONITOR,
            typed_config: {
              '@type':
                'type.googleapis.com/envoy.extensions.resource_monitors.injected_resource.v3.InjectedResourceConfig',
              filename,
            },
          },
        ],
        actions: [
          {
            name: 'envoy.overload_actions.stop_accepting_requests',
            triggers: [{ name: MONITOR, threshold: { value: 0.98 } }],
          },
        ],
      },
    },
  );
  t.after(() => system.stop());
  const ask = async () => (await request(system.edge, '/m/')).status;
  assert.equal(await ask(), 200);
  press(0.99);
  const { problems } = await statusWhen(system.status, status => status.problems.length > 0);
  assert.equal(await ask(), 503);
  assert.deepEqual(
    problems.map(({ severity, kind, name }) => [severity, kind, name]),
    [['error', 'Envoy', 'edge-1']],
  );
  press(0);
  await statusWhen(system.status, status => status.problems.length === 0);
  assert.equal(await ask(), 200);
});

test('a proxy whose connections are all in use is told while it closes new ones', async t => {
  const monitor = {
    name: 'envoy.resource_monitors.global_downstream_max_connections',
    typed_config: {
      '@type':
        'type.googleapis.com/envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig',
      max_active_downstream_connections: 1,
    },
  };
  const system = await startFiguresSystem(
    MAPPING(1),
    {},
    { overload_manager: { resource_monitors: [monitor] } },
  );
  t.after(() => system.stop());
  const { hostname, port } = new URL(system.edge);
  const holder = connect(Number(port), hostname);
  t.after(() => holder.destroy());
  await once(holder, 'connect');
  const { message, severity } = await until(async () => {
    await assert.rejects(request(system.edge, '/m/'));
    const { problems } = await system.status();
    return problems.find(({ kind }) => kind === 'Envoy');
  }, 30_000);
  assert.equal(severity, 'error');
  assert.match(message, /clients hold all connections/);
});
