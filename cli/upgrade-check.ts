import { existsSync } from 'node:fs';
import { Command, Option } from 'commander';
import { PRODUCT_VERSION } from '#files/product-version.ts';
import { checkState } from '#files/state-mark.ts';
import { readObjects } from './import/source-object.ts';
import { readFiles } from './read-resources.ts';
import { shorten } from './shorten.ts';
import { stateOption } from './state-option.ts';
import { CHANGES } from './upgrade/changes.ts';
import { REPORTS, upgradeReport } from './upgrade/upgrade-report.ts';

type Flags = {
  readonly from?: string;
  readonly state: string;
  readonly output: keyof typeof REPORTS;
};

const NOTES = `
Run it with the new version, in the environment of the services, before the new version is started.
It looks for the changes of CHANGELOG that a program can recognize. \`validate\` shows what the new
version rejects.

Exits with 0 when no change concerns these files, with 1 when one does, and with 2 when a file
cannot be read, when none has a resource, or when the state folder is of a newer version.

Examples:
  gateway upgrade-check my-site/resources
  gateway upgrade-check all.yaml --from 0.1.0 --output json
`;

/** Returns `gateway upgrade-check`. It tells what this version changes for an operator. */
export function upgradeCheckCommand(): Command {
  return new Command('upgrade-check')
    .description('list which changes between the version that runs now and this one concern you')
    .argument('<files...>', 'YAML files, or folders of them')
    .option(
      '--from <version>',
      'the version that runs now (default: the one that the state folder names, else before 0.1.0)',
    )
    .addOption(stateOption('the state folder of the version that runs now'))
    .addOption(
      new Option('--output <form>', 'for people or for programs')
        .choices(Object.keys(REPORTS))
        .default('text'),
    )
    .addHelpText('after', NOTES)
    .action((paths: string[], { from, output, state }: Flags, command: Command) => {
      if (command.getOptionValueSource('state') === 'cli' && !existsSync(state))
        throw new Error(`there is no state folder ${state}: correct --state, or leave it out`);
      const mark = checkState(state);
      const objects = [...readFiles(paths.map(shorten))].flatMap(([file, content]) => {
        if ('error' in content) throw new Error(`${file}: ${content.error}`);
        return readObjects(file, content.text, true);
      });
      if (objects.length === 0) throw new Error(`${paths.join(', ')}: there is no resource in it`);
      const site = { objects, environment: process.env };
      const report = upgradeReport(CHANGES, site, PRODUCT_VERSION, from ?? mark?.version);
      process.stdout.write(REPORTS[output](report));
      process.exitCode = report.changes.length === 0 ? 0 : 1;
    });
}
