import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startFiguresSystem } from '#controlplane/figures/testing/figures-system.ts';
import { request } from '#envoy/e2e/request.ts';
import { statusWhen } from '#envoy/e2e/status-when.ts';
import { startUpstream } from '#envoy/e2e/upstream.ts';

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
    `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: { name: m }\nspec: { prefix: /m/, service: "127.0.0.1:${upstream.port}" }\n`,
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
