import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DEFAULT_TRUST_DOMAIN } from '#certificates/identity.ts';
import { writeTlsFolder } from '#certificates/write-tls-folder.ts';
import { isBehindEdge } from '#controlplane/compile/node-groups.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { validate } from '#envoy/e2e/validate.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { identitySecret } from '#envoy/identity-tls.ts';
import { OVERLOAD_MANAGER } from '#envoy/overload-manager.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import type { JsonObject } from '#protos/json.ts';
import { composeService, ENVOYS, INSTANCES, mounted, portOf } from '../testing/compose-file.ts';

/** Where each Envoy finds its identity. */
const TLS_FOLDER = '/run/identity';

/** The files of the Envoys, and the bootstrap that each has to be. */
const BOOTSTRAPS = ['edge', 'user-service'].map(group => ({
  file: `/etc/gateway/${group}.bootstrap.yaml`,
  json: bootstrap({
    nodeId: group,
    group,
    isBehindEdge: isBehindEdge(group),
    xdsAddress: `controlplane:${portOf('controlplane', 'XDS_ADDRESS')}`,
    sdsAddress: `sds:${portOf('sds', 'ADDRESS')}`,
    // A proxy shares its loopback with its instance. All that the instance can do there is stop its
    // own proxy.
    adminAddress: '127.0.0.1:9901',
    statsAddress: '0.0.0.0:9902',
    identity: {
      tlsFolder: TLS_FOLDER,
      secretsFolder: '/etc/gateway',
      trustDomain: DEFAULT_TRUST_DOMAIN,
    },
  }),
}));

for (const { file, json } of BOOTSTRAPS) {
  // After a change to envoy/bootstrap.ts: node --test --test-update-snapshots
  // deploy/e2e/bootstraps.test.ts
  test(`${file} is what \`gateway bootstrap\` gives`, t => {
    t.assert.fileSnapshot(toEnvoyYaml(json), mounted(file), { serializers: [String] });
  });

  test(`Envoy accepts ${file}`, async t => {
    assert.equal(await validate(await readable(t, json)), undefined);
  });
}

for (const name of ['identity', 'roots'] as const) {
  test(`/etc/gateway/${name}.yaml is what \`gateway bootstrap --print\` gives`, t => {
    const json = identitySecret(name, TLS_FOLDER);
    t.assert.fileSnapshot(toEnvoyYaml(json), mounted(`/etc/gateway/${name}.yaml`), {
      serializers: [String],
    });
  });
}

test('each Envoy starts with the bootstrap of its group', () => {
  const file = (service: string) => composeService(service).command?.at(3);
  assert.equal(file('edge'), '/etc/gateway/edge.bootstrap.yaml');
  for (const instance of INSTANCES)
    assert.equal(file(`${instance}-proxy`), '/etc/gateway/user-service.bootstrap.yaml');
});

test('Envoy sheds load before its container is killed for want of memory', () => {
  const heap = /"max_heap_size_bytes":(\d+)/.exec(JSON.stringify(OVERLOAD_MANAGER))?.[1];
  for (const [, { deploy }] of ENVOYS) {
    const mebibytes = Number.parseInt(deploy?.resources.limits.memory ?? '', 10);
    assert.ok(mebibytes * 2 ** 20 > Number(heap));
  }
});

/** Returns the same with the files that it names where this machine has them. */
async function readable(t: TestContext, json: JsonObject): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'bootstrap-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = await testAuthority();
  writeTlsFolder(folder, await authority.issue('spiffe://gateway.internal/group/edge'));
  for (const name of ['identity', 'roots'] as const)
    writeFileSync(join(folder, `${name}.yaml`), toEnvoyYaml(identitySecret(name, folder)));
  return JSON.parse(JSON.stringify(json).replaceAll('"/etc/gateway/', `"${folder}/`)) as object;
}
