import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { validate } from '#envoy/e2e/validate.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { encodeAny } from '#protos/encode.ts';
import { messageName } from '#protos/type-url.ts';
import type { Problem } from '#resources/problem.ts';
import { missingReferences } from '#xds/testing/references.ts';
import { BOOTSTRAP_CLUSTERS, discoveryClusters } from './clusters/discovery-cluster.ts';
import { compile } from './compile.ts';
import type { Compiled } from './compiled.ts';
import { EXT_AUTHZ, nodeGroups, RATELIMIT_SERVICE, SDS, SERVICE_GROUPS } from './node-groups.ts';
import type { CompileOptions } from './options.ts';
import { resourceSetOf } from './testing/resource-set-of.ts';
import { staticTestBootstrap } from './testing/static-test-bootstrap.ts';

/**
 * A case is two files and no code: `testdata/<case>.in.yaml` is what the operator writes, `<case>.<node group>.out.yaml`
 * what its Envoys get, or our own service. After a change: `node --test --test-update-snapshots controlplane/compile/golden.test.ts`, then read the diff.
 */
const FOLDER = join(import.meta.dirname, 'testdata');

const OPTIONS: CompileOptions = {
  edge: { host: '127.0.0.1', port: 8080 },
  sds: { host: '127.0.0.1', port: 18003 },
  rateLimit: { host: '127.0.0.1', port: 18002 },
  extAuthz: { host: '127.0.0.1', port: 18001 },
};

/** Cases whose name begins with `hop-tls`: as in a cluster, where services are on other machines. */
const HOP_TLS: CompileOptions = {
  ...OPTIONS,
  rateLimit: { host: 'ratelimit-service', port: 18002 },
  extAuthz: { host: 'ext-authz', port: 18001 },
  hopTls: true,
  serviceTls: true,
};

for (const file of readdirSync(FOLDER).filter(name => name.endsWith('.in.yaml'))) {
  const { resources, problems } = resourceSetOf(readFileSync(join(FOLDER, file), 'utf8'), file);
  const nodes = nodeGroups(resources);
  const asked = [
    ...(resources.filters.length > 0 ? [EXT_AUTHZ] : []),
    ...(resources.rateLimits.length > 0 ? [RATELIMIT_SERVICE] : []),
    ...(resources.hosts.length + resources.tlsContexts.length > 0 ? [SDS] : []),
  ];
  for (const group of [...nodes, ...asked]) {
    const name = `${file.slice(0, -'.in.yaml'.length)}.${group}`;
    const compiled = compile(resources, group, file.startsWith('hop-tls') ? HOP_TLS : OPTIONS);

    test(`${name} is compiled as its golden file says`, (t: TestContext) => {
      const all = [...problems, ...compiled.problems];
      t.assert.fileSnapshot(golden(compiled, all), join(FOLDER, `${name}.out.yaml`), {
        serializers: [String],
      });
    });

    test(`${name} fits its API`, () => {
      for (const { json } of [...compiled.resources.values()].flat()) encodeAny(json);
    });

    if (SERVICE_GROUPS.includes(group)) continue;

    test(`${name} names no cluster and no routes that it does not hold`, () => {
      assert.deepEqual(
        missingReferences(snapshotEncoder(Buffer.alloc(32))(compiled), BOOTSTRAP_CLUSTERS),
        [],
      );
    });

    test(`${name} is accepted by Envoy`, async () => {
      const discovery = discoveryClusters(resources, group, OPTIONS.sds);
      assert.equal(await validate(staticTestBootstrap(compiled, discovery)), undefined);
    });
  }
}

/** The whole result as YAML, the messages by type, with the resources that they come from. */
function golden({ resources }: Compiled, problems: readonly Problem[]): string {
  const messages = [...resources].map(([typeUrl, list]) => [
    messageName(typeUrl).replace(/.*\./, ''),
    list.map(({ json: { '@type': _, ...message }, origins }) => ({ origins, message })),
  ]);
  const lines = problems.map(({ severity, line, kind, namespace, name, field, message }) =>
    [`line ${line}: ${severity}: ${kind} ${namespace}/${name}:`, field, message].filter(Boolean).join(' '),
  );
  return toEnvoyYaml({ ...Object.fromEntries(messages), problems: lines });
}
