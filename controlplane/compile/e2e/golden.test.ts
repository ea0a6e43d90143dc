import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validate } from '#envoy/e2e/validate.ts';
import { discoveryClusters } from '../clusters/discovery-cluster.ts';
import { SERVICE_GROUPS } from '../node-groups.ts';
import { GOLDEN_OPTIONS, goldenCases } from '../testing/golden-cases.ts';
import { staticTestBootstrap } from '../testing/static-test-bootstrap.ts';

for (const { compiled, group, name, resources } of goldenCases()) {
  if (SERVICE_GROUPS.includes(group)) continue;

  test(`${name} is accepted by Envoy`, async () => {
    const discovery = discoveryClusters(resources, group, GOLDEN_OPTIONS.sds);
    assert.equal(await validate(staticTestBootstrap(compiled, discovery)), undefined);
  });
}
