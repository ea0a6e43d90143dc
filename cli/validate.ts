import { Command } from 'commander';
import { describeProblem } from '#controlplane/problems.ts';
import { readResources } from './read-resources.ts';

/** `gateway validate`: what the control plane would say of these resources. Exits with 1 when there is an error. */
export function validateCommand(): Command {
  return new Command('validate')
    .description('check resources and print what is wrong with file and line')
    .argument('<files...>', 'YAML files, or folders of them')
    .option('--json', 'print the problems as JSON')
    .action((paths: string[], options: { json?: boolean }) => {
      const { resources, problems } = readResources(paths);
      if (options.json)
        process.stdout.write(`${JSON.stringify({ resources: resources.size, problems }, null, 2)}\n`);
      else
        process.stdout.write(
          [...problems.map(describeProblem), summary(resources.size, problems.length), ''].join('\n'),
        );
      process.exitCode = problems.some(({ severity }) => severity === 'error') ? 1 : 0;
    });
}

function summary(resources: number, problems: number): string {
  return `${count(resources, 'resource')} good, ${count(problems, 'problem')}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
