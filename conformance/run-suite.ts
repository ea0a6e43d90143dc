import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { MESH_FEATURES, SUITE_OPTIONS } from './suite-options.ts';
import { type SuiteTest, suiteTests } from './suite-tests.ts';

export type SuiteRun = {
  readonly api: Pick<KubeApiserver, 'kubeconfig'>;
  readonly gatewayClass: string;
  /** An address that a Gateway may ask for. */
  readonly usableAddress: string;
  /** Only this test. Default: all. */
  readonly test?: string;
  /** Where the official report is written. Default: nowhere. */
  readonly report?: string;
  /** Called with what the suite prints. */
  onOutput(text: string): void;
};

/** No network has it (RFC 5737). */
const UNUSABLE_ADDRESS = '198.51.100.1';

/** Runs the suite to its end. Resolves with all of its tests, in the order of the suite. */
export async function runSuite(run: SuiteRun): Promise<readonly SuiteTest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-suite-'));
  const [options, results] = ['options.json', 'results'].map(name => join(folder, name)) as [
    string,
    string,
  ];
  writeFileSync(
    options,
    JSON.stringify({
      ...SUITE_OPTIONS,
      gatewayClassName: run.gatewayClass,
      usableNetworkAddresses: [{ type: 'IPAddress', value: run.usableAddress }],
      unusableNetworkAddresses: [{ type: 'IPAddress', value: UNUSABLE_ADDRESS }],
      ...(run.test !== undefined && { runTest: run.test }),
      ...(run.report !== undefined && { reportOutputPath: run.report }),
    }),
  );
  const child = spawn(
    findTool('gateway-conformance').path,
    ['-test.v', '-test.timeout=30m', `-conformance-options-file=${options}`],
    {
      env: { ...process.env, KUBECONFIG: run.api.kubeconfig, RESULTS: results },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => run.onOutput(String(chunk)));
  await new Promise(resolve => child.once('close', resolve));
  const tests = suiteTests(readFileSync(results, 'utf8')).filter(isOurs);
  rmSync(folder, { recursive: true });
  return tests;
}

function isOurs({ features }: SuiteTest): boolean {
  return !features.some(feature => MESH_FEATURES.includes(feature));
}
