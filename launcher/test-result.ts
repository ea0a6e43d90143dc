/** What a run of `node --test` came to. */
export type TestResult = {
  readonly passed: number;
  readonly failed: number;
  /** `name: reason` of each skipped test. */
  readonly skipped: readonly string[];
};

/** Reads the output of the runner's `tap` reporter. Source: testanything.org, version 13. */
export function parseTestResult(tap: string): TestResult {
  const total = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(tap)?.[1] ?? 0);
  const skipped = [...tap.matchAll(/^ *ok \d+ - (.*?) # SKIP ?(.*)$/gm)].map(
    ([, name, reason]) => `${name}: ${reason || 'no reason given'}`,
  );
  return { passed: total('pass'), failed: total('fail') + total('cancelled'), skipped };
}

/** The last lines of `npm test`. */
export function describeTestResult({ failed, passed, skipped }: TestResult): string {
  const reasons = skipped.map(reason => `skipped: ${reason}\n`);
  return `${reasons.join('')}${passed} passed, ${failed} failed, ${skipped.length} skipped\n`;
}
