import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeEnvoyApi } from '#launcher/make-envoy-api.ts';
import { ensureTestTools } from '#launcher/test-tools.ts';
import { killControlPlanes } from './kill-control-plane.ts';
import { RED_PATH } from './red-tests.ts';
import { runSuite } from './run-suite.ts';
import {
  type ConformanceCluster,
  startConformanceCluster,
  whyNoConformanceCluster,
} from './start-cluster.ts';
import { describeSuite, namesOf } from './suite-tests.ts';

const HELP = `npx node conformance/main.ts              runs the conformance suite of Gateway API
npx node conformance/main.ts <test>       runs one of its tests, such as HTTPRouteSimpleSameNamespace
    --keep        then waits for Ctrl-C, with the cluster up
    --cluster     only starts the cluster, and waits for Ctrl-C
    --report      writes the official report to conformance/reports/
    --kill-control-plane
                  kills one or both of two control planes every 5 to 20 s meanwhile
    --seed <n>    kills at the same moments as another run, which said its seed
    --write-red   writes the tests that failed to conformance/red.txt
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cluster: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
    keep: { type: 'boolean' },
    'kill-control-plane': { type: 'boolean' },
    report: { type: 'boolean' },
    seed: { type: 'string' },
    'write-red': { type: 'boolean' },
  },
});
const [test] = positionals;
const say = (line: string) => void process.stderr.write(`${line}\n`);

if (values.help) process.stdout.write(HELP);
// Node would spin in its clean-up of sockets that were reset.
else process.exit(await main());

async function main(): Promise<number> {
  await makeEnvoyApi(say);
  ensureTestTools(say);
  const missing = whyNoConformanceCluster();
  if (missing !== undefined) throw new Error(missing);
  const isKilling = values['kill-control-plane'] === true;
  const cluster = await startConformanceCluster({ planes: isKilling ? 2 : 1 });
  const stopped = Promise.race(['SIGINT', 'SIGTERM'].map(signal => once(process, signal)));
  try {
    say(`export KUBECONFIG=${cluster.api.kubeconfig}`);
    const killer = isKilling ? startKiller(cluster) : undefined;
    const passed = values.cluster || (await Promise.race([run(cluster), stopped])) === true;
    await killer?.();
    if (values.keep || values.cluster) await stopped;
    return passed ? 0 : 1;
  } finally {
    if (values.keep || values.cluster) say(cluster.log());
    await cluster.remove();
  }
}

/** Kills control planes until the returned function is called. */
function startKiller({ node }: ConformanceCluster): () => Promise<void> {
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  const ended = new AbortController();
  const killing = killControlPlanes(node, seed, ended.signal);
  say(`kills control planes, by --seed ${seed}`);
  return async () => {
    ended.abort();
    say(`killed control planes ${await killing} times, by --seed ${seed}`);
  };
}

/** Runs the suite, and tells whether nothing failed. */
async function run(cluster: ConformanceCluster): Promise<boolean> {
  const report = join(import.meta.dirname, 'reports', 'v1.7.0-report.yaml');
  mkdirSync(dirname(report), { recursive: true });
  const tests = await runSuite({
    ...cluster,
    ...(test !== undefined && { test }),
    ...(values.report && { report }),
    onOutput: text => process.stdout.write(text),
  });
  process.stdout.write(describeSuite(tests));
  const failed = namesOf(tests, 'failed');
  if (values['write-red'])
    writeFileSync(
      RED_PATH,
      [...failed]
        .sort()
        .map(name => `${name}\n`)
        .join(''),
    );
  return failed.length === 0;
}
