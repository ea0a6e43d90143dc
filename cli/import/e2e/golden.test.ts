import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discoveryClusters } from '#controlplane/compile/clusters/discovery-cluster.ts';
import { compile } from '#controlplane/compile/compile.ts';
import { GOLDEN_OPTIONS } from '#controlplane/compile/testing/golden-cases.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { staticTestBootstrap } from '#controlplane/compile/testing/static-test-bootstrap.ts';
import { validate } from '#envoy/e2e/validate.ts';
import { toYaml } from '../document.ts';
import { importCases } from '../testing/golden-cases.ts';

for (const { imported, name } of importCases()) {
  test(`${name} is accepted by Envoy`, async () => {
    const { resources } = resourceSetOf(toYaml(imported.documents), `${name}.yaml`);
    const compiled = compile(resources, 'edge', GOLDEN_OPTIONS);
    const discovery = discoveryClusters(resources, 'edge', GOLDEN_OPTIONS.sds);
    assert.equal(await validate(staticTestBootstrap(compiled, discovery)), undefined);
  });
}
