import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'end-with-tests-'));
after(() => rmSync(folder, { recursive: true }));

/** Runs these lines as a test file, as `npm test` does, which has so long for its end. */
function run(
  name: string,
  patienceMs: number,
  ...lines: readonly string[]
): { readonly code: number | null; readonly out: string } {
  const file = join(folder, name);
  writeFileSync(file, lines.join('\n'));
  const { NODE_TEST_CONTEXT: _own, ...env } = process.env;
  const args = ['--import', join(import.meta.dirname, '..', 'end-with-tests.ts'), '--test', file];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    env: { ...env, GATEWAY_TEST_END_MS: String(patienceMs) },
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { code: status, out: stdout + stderr };
}

test('a test file that leaves a server behind fails, and says so', () => {
  const { code, out } = run(
    'left.test.ts',
    100,
    "import { before, test } from 'node:test';",
    "import { createServer } from 'node:net';",
    "before(() => { createServer().listen(0); throw new Error('half-way'); });",
    "test('anything', () => {});",
  );
  assert.equal(code, 1);
  assert.match(out, /half-way/);
  assert.match(
    out,
    /left\.test\.ts does not end 100 ms after its last test, kept by: .*TCPServerWrap/,
  );
});

test('one that ends is left alone, as are the processes that it forks', () => {
  const { code, out } = run(
    'ends.test.ts',
    120_000,
    "import assert from 'node:assert';",
    "import { fork } from 'node:child_process';",
    "import { writeFileSync } from 'node:fs';",
    "import { text } from 'node:stream/consumers';",
    "import { test } from 'node:test';",
    "const script = import.meta.filename + '.forked.mjs';",
    "writeFileSync(script, 'console.log(1)');",
    "test('forks', async () => assert.equal(await text(fork(script, { silent: true }).stdout), '1\\n'));",
  );
  assert.equal(code, 0, out);
});
