import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { RED_PATH, redTests } from '../red-tests.ts';
import { runSuite } from '../run-suite.ts';
import {
  type ConformanceCluster,
  startConformanceCluster,
  whyNoConformanceCluster,
} from '../start-cluster.ts';
import { describeSuite, namesOf } from '../suite-tests.ts';

/** The whole suite, on a busy machine. */
const LONGEST_MS = 1_800_000;
const LOG_CHARACTERS = 20_000;

const options = { skip: whyNoConformanceCluster() ?? false, timeout: LONGEST_MS };

describe('the conformance suite of Gateway API', options, () => {
  let cluster: ConformanceCluster;

  before(async () => {
    cluster = await startConformanceCluster();
  });
  after(() => cluster?.remove());

  test('fails in no test that is not known as red', { timeout: LONGEST_MS }, async t => {
    const output: string[] = [];
    const tests = await runSuite({ ...cluster, onOutput: text => void output.push(text) });
    t.diagnostic(`\n${describeSuite(tests)}`);
    const red = redTests(readFileSync(RED_PATH, 'utf8'));
    const passed = namesOf(tests, 'passed').filter(name => red.has(name));
    if (passed.length > 0) t.diagnostic(`no longer red: ${passed.join(', ')}`);
    const failed = namesOf(tests, 'failed').filter(name => !red.has(name));
    assert.deepEqual(failed, [], output.join('').slice(-LOG_CHARACTERS));
  });
});
