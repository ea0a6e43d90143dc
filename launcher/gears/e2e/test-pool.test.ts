import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { FileResult, TestResults } from '../../test-result.ts';
import { runPool } from '../test-pool.ts';

const HEAD = "import { after, before, beforeEach, describe, test } from 'node:test';";

const root = mkdtempSync(join(tmpdir(), 'test-pool-'));
after(() => rmSync(root, { recursive: true }));

/** Runs these files one after the other, in one process or in one each. */
async function run(
  sharing: boolean,
  texts: Readonly<Record<string, string>>,
  programs = false,
): Promise<TestResults> {
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `${HEAD}\n${text}`);
  }
  const results = new Map<string, FileResult>();
  const { NODE_TEST_CONTEXT: _own, ...rest } = process.env;
  const env = { ...rest, GATEWAY_TEST_END_MS: '300' };
  const ended = (file: string, result: FileResult) => void results.set(file, result);
  await runPool(Object.keys(texts), { root, workers: () => 1, sharing, programs, env, ended });
  return results;
}

const failures = (results: TestResults) =>
  [...results].map(([file, { failed }]) => [file, failed.map(text => text.split('\n', 1)[0])]);

for (const sharing of [true, false])
  describe(sharing ? 'files that share a process' : 'files with a process each', () => {
    const folder = sharing ? 'shared' : 'apart';
    const at = (name: string) => `${folder}/${name}.test.mjs`;
    let results: TestResults;
    const resultOf = (name: string) => {
      const result = results.get(at(name));
      assert.ok(result !== undefined, `no result of ${name}`);
      return result;
    };

    before(async () => {
      results = await run(sharing, {
        [at('mixed')]: `beforeEach(() => { globalThis.mixed = (globalThis.mixed ?? 0) + 1; });
          describe('a suite', () => {
            test('works', () => {});
            test('breaks', () => { console.error('a line before'); throw new Error('broken here'); });
            test('rests', { skip: 'no "ip"' }, () => {});
            test('also rests', { skip: true }, () => {});
            test('is planned', { todo: true }, () => {});
          });
          test('stands alone', () => {});`,
        [at('unloadable')]: "import './missing.mjs'; test('works', () => {});",
        [at('empty')]: '',
        [at('hook')]:
          "describe('a suite', () => { after(() => { throw new Error('in it'); }); test('works', () => {}); });",
        [at('cancelled')]:
          "before(() => { throw new Error('at first'); }); test('waits', () => {});",
        [at('late')]:
          "test('ends early', () => void setTimeout(() => { throw new Error('late'); }, 20)); test('waits', () => new Promise(done => setTimeout(done, 100)));",
        [at('code')]: "test('works', () => { process.exitCode = 3; });",
        [at('variable')]: "test('works', () => { process.env.LEFT_BEHIND = 'x'; });",
        [at('open')]:
          "import { stat } from 'node:fs/promises'; import { createServer } from 'node:net'; test('works', () => { createServer().listen(0); return stat('.'); });",
        [at('exits')]: "test('ends it all', () => process.exit(0));",
        [at('good')]: "test('is alone', t => { if (globalThis.mixed > 4) t.assert.fail(); });",
      });
    });

    test('are told apart, each test with its suite', () => {
      const { failed, output, passed, skipped } = resultOf('mixed');
      assert.deepEqual(passed, ['a suite › works', 'stands alone']);
      assert.deepEqual(skipped, [
        'a suite › rests: no "ip"',
        'a suite › also rests: no reason given',
      ]);
      assert.equal(failed.length, 1);
      assert.match(failed[0] ?? '', /^a suite › breaks: Error: broken here\n/);
      assert.match(output, /a line before/);
    });

    test('fail, however they failed, and the next one is run', () => {
      const first = failures(results).map(([file, failed]) => [file, failed?.[0]]);
      const expected: readonly (readonly [string, RegExp])[] = [
        ['mixed', /^a suite › breaks: /],
        ['unloadable', /Cannot find module/],
        ['empty', /^There is no test in it$/],
        ['hook', /^a suite: Error: in it$/],
        ['cancelled', /^waits: Error: at first$/],
        [
          'late',
          /^Error: Test "ends early" .*asynchronous activity after the test ended.*Error: late/,
        ],
        ['code', /^It leaves with exit code 3$/],
        ['variable', /^It leaves the environment variable LEFT_BEHIND changed$/],
        ['open', /^Its process ended with code 1$/],
        ['exits', /^Its process ended with code 0$/],
      ];
      assert.deepEqual(
        first.map(([file]) => file),
        [...expected.map(([name]) => at(name)), at('good')],
      );
      for (const [at, [, why]] of expected.entries()) assert.match(String(first[at]?.[1]), why);
    });

    test('are named with what keeps them from their end', () => {
      assert.match(
        resultOf('open').output,
        /300 ms after its last test, open are: .*TCPServerWrap.*files are in: \w+/,
      );
    });

    test('know nothing of the hooks of another', () => {
      assert.deepEqual([resultOf('good').passed, resultOf('good').failed], [['is alone'], []]);
    });

    test('are told with the time that they took', () => {
      assert.ok(resultOf('late').ms >= 100, `${resultOf('late').ms}`);
    });
  });

test('a file that starts a program fails with where it belongs when it shares a process, and may in its own', async () => {
  const text = `import { spawnSync } from 'node:child_process';
    import * as everything from 'node:child_process';
    import { execFile } from 'child_process';
    test('spawns', () => { spawnSync('true'); });
    test('forks', () => { everything.fork(process.argv[1], { execArgv: ['-v'] }); });
    test('runs', () => { execFile('true'); });
    test('makes a pipe', () => { spawnSync('mkfifo', []); });`;
  const shared = (await run(true, { 'shared/starts.test.mjs': text })).get(
    'shared/starts.test.mjs',
  );
  assert.deepEqual(shared?.passed, ['makes a pipe']);
  assert.equal(shared?.failed.length, 3);
  for (const failed of shared?.failed ?? [])
    assert.match(
      failed,
      /This test starts the program ".+": move its file into the folder e2e\/ beside/,
    );
  const apart = (await run(false, { 'apart/starts.test.mjs': text })).get('apart/starts.test.mjs');
  assert.deepEqual([apart?.passed.length, apart?.failed], [4, []]);
});

test('files that start programs share a process until one of them fails', async () => {
  const text = `import { execFileSync } from 'node:child_process';
    console.log(process.pid);
    test('spawns', () => void execFileSync('true'));`;
  const results = await run(
    true,
    {
      'programs/first.test.mjs': text,
      'programs/second.test.mjs': `${text} test('breaks', () => { throw new Error('here'); });`,
      'programs/third.test.mjs': text,
    },
    true,
  );
  const all = [...results.values()];
  assert.deepEqual(
    all.map(({ failed, passed }) => [passed.length, failed.length]),
    [
      [1, 0],
      [1, 1],
      [1, 0],
    ],
  );
  const [first, second, third] = all.map(({ output }) => output.trim());
  assert.equal(first, second);
  assert.notEqual(second, third);
});

test('a process that holds much memory ends, and the next file has another one', async () => {
  const results = await run(true, {
    'memory/much.test.mjs': `console.log(process.pid);
      test('keeps', () => { globalThis.kept = new Array(5e7).fill(1); });`,
    'memory/little.test.mjs': `console.log(process.pid); test('has room', () => {});`,
    'memory/same.test.mjs': `console.log(process.pid); test('has room', () => {});`,
  });
  assert.deepEqual(
    failures(results).flatMap(([, failed]) => failed),
    [],
  );
  const [much, little, same] = [...results.values()].map(({ output }) => output.trim());
  assert.notEqual(much, little);
  assert.equal(little, same);
});
