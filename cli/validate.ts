import { Command } from 'commander';
import { compile } from '#controlplane/compile/compile.ts';
import { nodeGroups } from '#controlplane/compile/node-groups.ts';
import { checkTlsSecrets } from '#controlplane/compile/tls/tls-secrets.ts';
import { describeProblem } from '#controlplane/rollout/problems.ts';
import type { Collected } from '#resources/parse/collect.ts';
import type { Problem } from '#resources/problem.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { compileOptions } from './built-in-addresses.ts';
import { readResources } from './read-resources.ts';
import { exitCodeFor } from './report-problems.ts';

/**
 * Returns `gateway validate`. It prints the Problems that the control plane would find in these
 * resources. Exits with 1 when one is an error.
 */
export function validateCommand(): Command {
  return new Command('validate')
    .description('check resources and print what is wrong with file and line')
    .argument('<files...>', 'YAML files, or folders of them')
    .option('--json', 'print the problems as JSON')
    .action((paths: string[], options: { json?: boolean }) => {
      const read = readResources(paths);
      const problems = [...read.problems, ...problemsBetween(read, Date.now())];
      const good = read.resources.size;
      process.stdout.write(options.json ? toJson(good, problems) : toText(good, problems));
      process.exitCode = exitCodeFor(problems);
    });
}

/**
 * Returns Problems between resources that are each valid, such as a route to an unknown cluster.
 */
function problemsBetween({ resources, refused }: Collected, now: number): Problem[] {
  const secrets = checkTlsSecrets({ resources, refused }, [], now).problems;
  const set = toResourceSet(resources.values(), refused.values());
  const options = compileOptions({});
  return [...secrets, ...nodeGroups(set).flatMap(group => compile(set, group, options).problems)];
}

function toJson(good: number, problems: readonly Problem[]): string {
  return `${JSON.stringify({ resources: good, problems }, null, 2)}\n`;
}

function toText(good: number, problems: readonly Problem[]): string {
  const summary = `${count(good, 'resource')} good, ${count(problems.length, 'problem')}`;
  return [...problems.map(describeProblem), summary, ''].join('\n');
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
