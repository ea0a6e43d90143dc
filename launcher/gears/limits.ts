/** A test that takes longer waits for something that does not come, also on a busy machine. */
export const LONGEST_TEST_MS = 300_000;

/** Files that take longer than all others, by what their paths end with. */
const LONG_FILES_MS: Readonly<Record<string, number>> = {
  'conformance/e2e/conformance.test.ts': 1_500_000,
  // A fresh clone makes the base images first.
  'deploy/e2e/docker.test.ts': 900_000,
};

/**
 * Files that take long, which must not be what a run ends with. The first one mostly waits, since
 * it runs beside those that start no program and have all of the processor.
 */
const SLOWEST: readonly string[] = [
  'conformance/e2e/rollouts.test.ts',
  'deploy/e2e/docker.test.ts',
  'release/e2e/package.test.ts',
  'controlplane/upstreams/e2e/failing-instances.test.ts',
  'envoy/e2e/acme.test.ts',
  'conformance/e2e/addresses.test.ts',
  'controlplane/status/e2e/gateway-status.test.ts',
  'controlplane/console/e2e/console.test.ts',
  'readme/e2e/how-to.test.ts',
  'ext-authz/oauth2/oidc-provider.test.ts',
  'resources/parse/parse-thread.test.ts',
  'controlplane/diff/request-fuzz.test.ts',
  'ext-authz/oauth2/flood.test.ts',
  'controlplane/diff/access-fuzz.test.ts',
  'controlplane/questions.test.ts',
  'controlplane/explain/public-routes.test.ts',
  'controlplane/compile/closing-fuzz.test.ts',
];

/** Returns the files in the order in which they begin. */
export function slowestFirst(files: readonly string[]): readonly string[] {
  const slow = SLOWEST.filter(file => files.includes(file));
  return [...slow, ...files.filter(file => !slow.includes(file))];
}

/** Returns how long a file that is longer than all others may take, or else undefined. */
export function longestMs(path: string): number | undefined {
  return Object.entries(LONG_FILES_MS).find(([end]) => path.endsWith(end))?.[1];
}

/** The argument of a worker that ends after its first file. */
export const ONE_FILE = '--one-file';

/** The variable by which the quick gear asks tests for fewer random cases. */
export const FEWER_CASES = 'GATEWAY_FEWER_CASES';
