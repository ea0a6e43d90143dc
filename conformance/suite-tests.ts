/** A test of the suite, with how it has ended. A test that never began has failed. */
export type SuiteTest = {
  readonly name: string;
  readonly features: readonly string[];
  readonly result: 'passed' | 'failed' | 'skipped';
};

/** Reads the lines that `suite-go/` writes: each test without a result, then each with its own. */
export function suiteTests(lines: string): readonly SuiteTest[] {
  const tests = new Map<string, SuiteTest>();
  for (const line of lines.split('\n').filter(each => each !== '')) {
    const test: SuiteTest = { result: 'failed', ...JSON.parse(line) };
    tests.set(test.name, test);
  }
  return [...tests.values()];
}

/** Describes the tests by feature, the failed ones by name, and counts them in the last line. */
export function describeSuite(tests: readonly SuiteTest[]): string {
  const groups = Object.groupBy(tests, ({ features }) => features.join(' + '));
  const lines = Object.entries(groups)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([features, group = []]) => [
      `${features}`,
      ...group.map(({ name, result }) => `  ${SIGNS[result]} ${name}`),
    ]);
  return `${[...lines, countsOf(tests)].join('\n')}\n`;
}

export function namesOf(
  tests: readonly SuiteTest[],
  wanted: SuiteTest['result'],
): readonly string[] {
  return tests.filter(({ result }) => result === wanted).map(({ name }) => name);
}

const SIGNS = { passed: '✔', failed: '✖', skipped: '-' };

/** Returns a line such as `Gateway API conformance: 100 passed, 2 failed, 3 skipped`. */
export function countsOf(tests: readonly SuiteTest[]): string {
  const counts = (['passed', 'failed', 'skipped'] as const).map(
    wanted => `${namesOf(tests, wanted).length} ${wanted}`,
  );
  return `Gateway API conformance: ${counts.join(', ')}`;
}
