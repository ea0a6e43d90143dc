import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap } from '#envoy/bootstrap.ts';
import { toEnvoyYaml } from '#envoy/e2e/envoy-process.ts';
import { validate } from '#envoy/e2e/validate.ts';
import { OVERLOAD_MANAGER } from '#envoy/overload-manager.ts';
import { COMPOSE, composeService, INSTANCES, mounted, portOf } from './testing/compose-file.ts';

/** The files of the Envoys, and the bootstrap that each has to be. */
const BOOTSTRAPS = ['edge', 'user-service'].map(group => ({
  file: `/etc/gateway/${group}.bootstrap.yaml`,
  json: bootstrap({
    nodeId: group,
    group,
    xdsAddress: `controlplane:${portOf('controlplane', 'XDS_ADDRESS')}`,
    sdsAddress: `sds:${portOf('sds', 'ADDRESS')}`,
    // The loopback of a proxy is also its instance's, which can do no more there than to stop its own proxy.
    adminAddress: '127.0.0.1:9901',
  }),
}));

for (const { file, json } of BOOTSTRAPS) {
  // After a change to envoy/bootstrap.ts: node --test --test-update-snapshots deploy/bootstraps.test.ts
  test(`${file} is what \`gateway bootstrap\` gives`, t => {
    t.assert.fileSnapshot(toEnvoyYaml(json), mounted(file), { serializers: [String] });
  });

  test(`Envoy accepts ${file}`, async () => {
    assert.equal(await validate(json), undefined);
  });
}

test('each Envoy starts with the bootstrap of its group', () => {
  const file = (service: string) => composeService(service).command?.at(2);
  assert.equal(file('edge'), '/etc/gateway/edge.bootstrap.yaml');
  for (const instance of INSTANCES)
    assert.equal(file(`${instance}-proxy`), '/etc/gateway/user-service.bootstrap.yaml');
});

test('Envoy sheds load before its container is killed for want of memory', () => {
  const heap = /"max_heap_size_bytes":(\d+)/.exec(JSON.stringify(OVERLOAD_MANAGER))?.[1];
  const envoys = Object.values(COMPOSE.services).filter(({ image }) => image.startsWith('envoyproxy/'));
  for (const { deploy } of envoys) {
    const mebibytes = Number.parseInt(deploy?.resources.limits.memory ?? '', 10);
    assert.ok(mebibytes * 2 ** 20 > Number(heap));
  }
});
