import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { KubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { MESH_FEATURES, SUITE_OPTIONS } from './suite-options.ts';
import { parseTest, type SuiteTest } from './suite-tests.ts';

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
  /** Called when a test has ended. */
  onTest?(test: SuiteTest): void;
};

/** No network has it (RFC 5737). */
const UNUSABLE_ADDRESS = '198.51.100.1';

/** Runs the suite to its end. Resolves with all of its tests, in the order of the suite. */
export async function runSuite(run: SuiteRun): Promise<readonly SuiteTest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-suite-'));
  const file = join(folder, 'options.json');
  writeFileSync(file, JSON.stringify(optionsOf(run)));
  const child = spawn(
    'setpriv',
    [
      // It ends with this process, whatever becomes of that.
      ...['--pdeathsig', 'KILL', findTool('gateway-conformance').path],
      ...['-test.v', '-test.timeout=30m', `-conformance-options-file=${file}`],
    ],
    {
      env: { ...process.env, KUBECONFIG: run.api.kubeconfig },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    },
  );
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => run.onOutput(String(chunk)));
  const tests = new Map<string, SuiteTest>();
  createInterface(child.stdio[3] as Readable).on('line', line => {
    const test = parseTest(line);
    if (!isOurs(test)) return;
    tests.set(test.name, test);
    if (test.hasEnded) run.onTest?.(test);
  });
  await once(child, 'close');
  rmSync(folder, { recursive: true });
  return [...tests.values()];
}

function optionsOf({ gatewayClass, usableAddress, test, report }: SuiteRun): object {
  return {
    ...SUITE_OPTIONS,
    gatewayClassName: gatewayClass,
    usableNetworkAddresses: [{ type: 'IPAddress', value: usableAddress }],
    unusableNetworkAddresses: [{ type: 'IPAddress', value: UNUSABLE_ADDRESS }],
    ...(test !== undefined && { runTest: test }),
    ...(report !== undefined && { reportOutputPath: report }),
  };
}

function isOurs({ features }: SuiteTest): boolean {
  return !features.some(feature => MESH_FEATURES.includes(feature));
}
