/** A test of the suite. */
export type SuiteTest = {
  readonly name: string;
  readonly features: readonly string[];
  /** A test that has not ended has failed. */
  readonly result: 'passed' | 'failed' | 'skipped';
  readonly hasEnded: boolean;
};

/** Reads a line that `suite-go/` writes, which has no result before the test has ended. */
export function parseTest(line: string): SuiteTest {
  const { name, features, result } = JSON.parse(line);
  return { name, features, result: result ?? 'failed', hasEnded: result !== undefined };
}

/**
 * Describes the tests by feature, and counts them in the last line, such as `Gateway API
 * conformance: 100 passed, 2 failed, 3 skipped`.
 */
export function describeSuite(tests: readonly SuiteTest[]): string {
  const groups = Object.groupBy(tests, ({ features }) => features.join(' + '));
  const lines = Object.entries(groups)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([features, group = []]) => [
      features,
      ...group.map(({ name, result }) => `  ${SIGNS[result]} ${name}`),
    ]);
  const counts = (['passed', 'failed', 'skipped'] as const).map(
    result => `${namesOf(tests, result).length} ${result}`,
  );
  return `${[...lines, `Gateway API conformance: ${counts.join(', ')}`].join('\n')}\n`;
}

const SIGNS = { passed: '✔', failed: '✖', skipped: '-' };

export function namesOf(
  tests: readonly SuiteTest[],
  wanted: SuiteTest['result'],
): readonly string[] {
  return tests.filter(({ result }) => result === wanted).map(({ name }) => name);
}

/**
 * Returns what a test has said in the output of `go test -v`, where tests that run at the same time
 * take turns.
 */
export function saidBy(name: string, output: string): string {
  const said: string[] = [];
  let speaks = false;
  for (const line of output.split('\n')) {
    const [, speaker] = /^=== (?:RUN|NAME|CONT|PAUSE) +TestConformance\/([^/\s]+)/.exec(line) ?? [];
    if (speaker !== undefined) speaks = speaker === name;
    if (speaks) said.push(line);
  }
  return said.join('\n');
}
