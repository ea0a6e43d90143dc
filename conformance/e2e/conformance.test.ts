import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, type TestContext, test } from 'node:test';
import { RED_PATH, redTests } from '../red-tests.ts';
import { runSuite } from '../run-suite.ts';
import {
  type ConformanceCluster,
  startConformanceCluster,
  whyNoConformanceCluster,
} from '../start-cluster.ts';
import { describeSuite, type SuiteTest, saidBy } from '../suite-tests.ts';

/** The whole suite, on a busy machine. */
const LONGEST_MS = 1_800_000;
const LOG_CHARACTERS = 8_000;
const RED = redTests(readFileSync(RED_PATH, 'utf8'));

const options = { skip: whyNoConformanceCluster() ?? false, timeout: LONGEST_MS };

describe('the conformance suite of Gateway API', options, () => {
  let cluster: ConformanceCluster;

  before(async () => {
    cluster = await startConformanceCluster();
  });
  after(() => cluster?.remove());

  test('fails only where red.txt says so', { timeout: LONGEST_MS }, async t => {
    let output = '';
    const reported: Promise<void>[] = [];
    const report = (ended: SuiteTest) => {
      const said = () => saidBy(ended.name, output).slice(-LOG_CHARACTERS);
      reported.push(reportTest(t, ended, said));
    };
    const tests = await runSuite({
      ...cluster,
      onOutput: text => {
        output += text;
      },
      onTest: report,
    });
    for (const each of tests) if (!each.hasEnded) report(each);
    await Promise.all(reported);
    process.stdout.write(describeSuite(tests));
    assert.ok(tests.length > 0, output.slice(-LOG_CHARACTERS));
  });
});

/** Makes a test of the suite one of ours. One that is known to be red passes, and says so. */
function reportTest(
  t: TestContext,
  { name, result }: SuiteTest,
  said: () => string,
): Promise<void> {
  if (RED.has(name)) {
    const now = result === 'failed' ? 'is red' : `is no longer red: ${result}`;
    return t.test(`${name} ${now}`, () => {});
  }
  // What it said is looked for in megabytes, while the node of the cluster needs this process.
  return t.test(name, () => {
    if (result !== 'passed') assert.equal(result, 'passed', said());
  });
}
