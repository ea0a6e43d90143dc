import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { DEFAULT_CA_FILE } from '#controlplane/compile/options.ts';
import { reasonOf } from '#resources/folder/folder-listing.ts';
import { type Collected, collect } from '#resources/parse/collect.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { compileOptions } from './built-in-addresses.ts';
import { describeLeftOut, leftOut } from './left-out.ts';
import { type Live, liveProblems } from './live/live-problems.ts';
import { nothingRead } from './nothing-read.ts';
import { problemsBetween } from './problems-between.ts';
import { parseFiles, parseOptions, readFiles } from './read-resources.ts';
import { exitCodeFor } from './report-problems.ts';
import { count, OUTPUTS, type Output } from './validate-output.ts';

type Flags = {
  readonly json?: boolean;
  readonly output: Output;
  readonly live?: boolean;
  readonly caFile: string;
};

const EXAMPLES = `
Examples:
  gateway validate my-site/resources
  gateway validate my-site/resources --live
  gateway validate my-site/resources --output github
`;

/**
 * Returns `gateway validate`. It prints the Problems that the control plane would find in these
 * resources. With `--live` it tries their targets too. Exits with 1 when one is an error.
 */
export function validateCommand(): Command {
  return new Command('validate')
    .description('check resources and print what is wrong with file and line')
    .argument('<files...>', 'YAML files, or folders of them')
    .addOption(
      new Option(
        '--output <form>',
        'for people, programs, GitHub Actions (notes at the lines), or code scanning (SARIF 2.1.0)',
      )
        .choices(Object.keys(OUTPUTS))
        .default('text'),
    )
    .addOption(new Option('--json', 'the same as --output json').conflicts('output'))
    .option('--live', 'try the targets too, from this machine: DNS, connections and TLS')
    .option(
      '--ca-file <file>',
      'authorities that `https://` services are checked against, with --live',
      DEFAULT_CA_FILE,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], flags: Flags, command: Command) => {
      if (command.getOptionValueSource('caFile') === 'cli') checkReadable(flags.caFile);
      const options = parseOptions();
      const files = readFiles(paths);
      const read = collect(parseFiles(files));
      const live = flags.live ? await tryTargets(read, flags) : undefined;
      const found = [
        ...nothingRead(paths, read),
        ...read.problems,
        ...problemsBetween(read, Date.now()),
      ];
      const problems = [...found, ...(live?.problems ?? [])];
      const good = read.resources.size;
      const notes = [
        ...describeLeftOut(leftOut(files, options), options.gatewayId),
        ...describeElsewhere(read),
        ...(live === undefined ? [] : describeTried(live)),
      ];
      const output = OUTPUTS[flags.json ? 'json' : flags.output];
      process.stdout.write(output({ good, problems, notes }));
      process.exitCode = exitCodeFor(problems);
    });
}

/** Without the authorities that were named, others would be trusted. */
function checkReadable(caFile: string): void {
  try {
    readFileSync(caFile);
  } catch (error) {
    throw new Error(`--ca-file is ${caFile}: cannot read this: ${reasonOf(error)}`);
  }
}

function tryTargets({ rejected, resources }: Collected, { caFile }: Flags): Promise<Live> {
  const set = toResourceSet(resources.values(), rejected.values());
  return liveProblems(set, resources, { ...compileOptions({}), caFile });
}

/** Values that are elsewhere are at hand where the control plane runs, and perhaps not here. */
function describeElsewhere({ resources }: Collected): readonly string[] {
  const secrets = [...resources.values()].filter(resource => resource.kind === 'Secret');
  const values = secrets.flatMap(({ spec }) => Object.values(spec.stringData));
  const elsewhere = values.filter(({ place }) => place !== undefined);
  if (elsewhere.length === 0) return [];
  const what = count(elsewhere.length, 'value');
  return [`not checked: ${what} of Secrets, from the environment and files of the control plane`];
}

/** Only a running discovery service knows the instances of its services. */
function describeTried({ discovered, tried }: Live): readonly string[] {
  const names = discovered.slice(0, MOST_NAMES).join(', ');
  const more = discovered.length > MOST_NAMES ? ' …' : '';
  return [
    `${count(tried, 'target')} tried`,
    ...(discovered.length === 0
      ? []
      : [`not tried, for the discovery service knows where they are: ${names}${more}`]),
  ];
}

const MOST_NAMES = 10;
