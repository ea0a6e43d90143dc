import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toYaml } from './document.ts';
import { describeRemark } from './remark.ts';
import { check, GOLDEN, importCases } from './testing/golden-cases.ts';

/**
 * A case is two files and no code. `testdata/<case>.in.yaml` is what others wrote, and
 * `<case>.out.yaml` what it becomes, with the report as its first lines. After a change run
 * `node --test --test-update-snapshots cli/import/golden.test.ts`, then read the diff.
 */
for (const { imported, name } of importCases()) {
  test(`${name} becomes what its golden file says`, (t: TestContext) => {
    const report = imported.remarks.map(remark => `# ${describeRemark(remark)}\n`).join('');
    t.assert.fileSnapshot(
      `${report}${toYaml(imported.documents)}`,
      join(GOLDEN, `${name}.out.yaml`),
      {
        serializers: [String],
      },
    );
  });

  test(`${name} becomes documents without an error`, () => {
    assert.deepEqual(
      check(toYaml(imported.documents)).filter(({ severity }) => severity === 'error'),
      [],
    );
  });
}
