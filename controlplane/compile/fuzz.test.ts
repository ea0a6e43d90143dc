import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { validate } from '#envoy/e2e/validate.ts';
import { missingReferences } from '#xds/testing/references.ts';
import { snapshotEncoder } from '../envoy-snapshot.ts';
import { compile } from './compile.ts';
import { BOOTSTRAP_CLUSTERS, discoveryClusters } from './discovery-cluster.ts';
import { RATELIMIT_SERVICE } from './node-groups.ts';
import type { CompileOptions } from './options.ts';
import { randomDocuments } from './testing/random-documents.ts';
import { resourceSetOf } from './testing/resource-set-of.ts';
import { staticTestBootstrap } from './testing/static-test-bootstrap.ts';

const OPTIONS: CompileOptions = {
  edge: { host: '127.0.0.1', port: 8080 },
  sds: { host: '127.0.0.1', port: 18003 },
  rateLimit: { host: '127.0.0.1', port: 18002 },
  extAuthz: { host: '127.0.0.1', port: 18001 },
};

/** Each batch is one configuration for Envoy; a failure names its seed. */
for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`what the parser accepts of 100 random resources, Envoy accepts (seed ${seed})`, async () => {
    const text = randomDocuments(seed, 100)
      .map(document => stringify(document))
      .join('---\n');
    const { resources } = resourceSetOf(text);
    assert.ok(
      resources.mappings.length > 20,
      `only ${resources.mappings.length} Mappings: this shows little`,
    );
    assert.ok(resources.rateLimits.length > 2, `only ${resources.rateLimits.length} RateLimits`);
    const compiled = compile(resources, 'edge', OPTIONS);
    snapshotEncoder(Buffer.alloc(32))(compile(resources, RATELIMIT_SERVICE, OPTIONS));
    assert.deepEqual(missingReferences(snapshotEncoder(Buffer.alloc(32))(compiled), BOOTSTRAP_CLUSTERS), []);
    const discovery = discoveryClusters(resources, 'edge', OPTIONS.sds);
    assert.equal(await validate(staticTestBootstrap(compiled, discovery)), undefined);
  });
}
