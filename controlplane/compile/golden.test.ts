import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { encodeAny } from '#protos/encode.ts';
import { messageName } from '#protos/type-url.ts';
import type { Problem } from '#resources/problem.ts';
import { missingReferences } from '#xds/testing/references.ts';
import { BOOTSTRAP_CLUSTERS } from './clusters/reserved-clusters.ts';
import type { Compiled } from './compiled.ts';
import { SERVICE_GROUPS } from './node-groups.ts';
import { GOLDEN, goldenCases } from './testing/golden-cases.ts';

/**
 * A case is two files and no code. `testdata/<case>.in.yaml` is what the operator writes.
 * `<case>.<node group>.out.yaml` is what its Envoys or our own service get. After a change run
 * `node --test --test-update-snapshots controlplane/compile/golden.test.ts`, then read the diff.
 */
for (const { compiled, group, name, problems } of goldenCases()) {
  test(`${name} is compiled as its golden file says`, (t: TestContext) => {
    t.assert.fileSnapshot(golden(compiled, problems), join(GOLDEN, `${name}.out.yaml`), {
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
}

/**
 * Formats the whole result as YAML: the messages by type, with the resources that they come from.
 */
function golden({ resources }: Compiled, problems: readonly Problem[]): string {
  const messages = [...resources].map(([typeUrl, list]) => [
    messageName(typeUrl).replace(/.*\./, ''),
    list.map(({ json: { '@type': _, ...message }, origins }) => ({ origins, message })),
  ]);
  const lines = problems.map(({ severity, line, kind, namespace, name, field, message }) =>
    [`line ${line}: ${severity}: ${kind} ${namespace}/${name}:`, field, message]
      .filter(Boolean)
      .join(' '),
  );
  return toEnvoyYaml({ ...Object.fromEntries(messages), problems: lines });
}
