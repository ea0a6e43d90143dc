import { statSync } from 'node:fs';
import { styleText } from 'node:util';
import { Command } from 'commander';
import { describe, isDifferent } from '#controlplane/diff/describe.ts';
import { diff } from '#controlplane/diff/diff.ts';
import type { DiffQuestion } from '#controlplane/diff/diff-request.ts';
import type { Difference } from '#controlplane/diff/difference.ts';
import type { FileContent } from '#resources/folder/file-content.ts';
import { collect } from '#resources/parse/collect.ts';
import { formatSource } from '#resources/resource.ts';
import { compileOptions } from './built-in-addresses.ts';
import {
  ADDRESS,
  askQuestion,
  keepOnMachine,
  PORT_OFFSET,
  RESOURCES,
  type WhereFlags,
} from './control-plane-address.ts';
import { leftOut } from './left-out.ts';
import { parseFiles, parseOptions, readFiles, readResources } from './read-resources.ts';
import { exitCodeFor } from './report-problems.ts';
import { shorten } from './shorten.ts';

type Flags = WhereFlags & {
  readonly delete?: readonly string[];
  readonly resources?: readonly string[];
  readonly envoy?: boolean;
  readonly json?: boolean;
};

const EXAMPLES = `
A file is added to what is in force. Its documents replace the resources of the same kind,
namespace and name. A folder replaces all folders that the control plane reads: what is missing
in it is removed. Objects of Kubernetes are never removed by it.

Exits with 0 without a difference, with 1 with one, and with 2 when the change brings an error or
nothing could be compared.

Examples:
  gateway diff new-route.yaml
  gateway diff my-resources --envoy
  gateway diff --delete Mapping/default/user
  gateway diff my-resources --resources resources-of-main
`;

/** Returns `gateway diff`. It tells what a change would do to the running gateway. */
export function diffCommand(): Command {
  return new Command('diff')
    .description('show what files would change: access, routes and limits')
    .argument('[files...]', 'YAML files, or folders of them')
    .option('--delete <ids...>', 'resources that are removed, for example Mapping/default/user')
    .option('--envoy', 'show the changed configuration of Envoy, too, as a unified diff')
    .addOption(ADDRESS)
    .addOption(PORT_OFFSET)
    .addOption(RESOURCES)
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(run);
}

async function run(paths: string[], flags: Flags, command: Command): Promise<void> {
  const { delete: remove = [], envoy = false, json, resources } = flags;
  if (paths.length + remove.length === 0)
    command.error(
      `error: name files or folders, or resources with --delete${swallowed(resources)}`,
    );
  const shown = paths.map(shorten);
  const whole = paths.some(path => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  const question = { files: textsOf(shown), whole, remove, envoy };
  const difference =
    resources === undefined
      ? await askRunning(question, shown, flags)
      : compareFiles(question, resources.map(shorten));
  process.stdout.write(json ? `${JSON.stringify(difference, null, 2)}\n` : coloured(difference));
  process.exitCode = exitCodeOf(difference);
}

/** Commander gives an option of several values all that follows it. */
function swallowed(resources: readonly string[] = []): string {
  return resources.length < 2
    ? ''
    : '. All paths after --resources are its own, so name the others before it';
}

/** As of `kubectl diff`. */
function exitCodeOf(difference: Difference): 0 | 1 | 2 {
  if (exitCodeFor(difference.problems) === 1) return 2;
  return isDifferent(difference) ? 1 : 0;
}

function textsOf(paths: readonly string[]): DiffQuestion['files'] {
  return [...readFiles(paths)].map(([name, content]) => {
    if ('error' in content) throw new Error(`${name}: ${content.error}`);
    return { name, text: content.text };
  });
}

async function askRunning(
  question: DiffQuestion,
  paths: readonly string[],
  flags: Flags,
): Promise<Difference> {
  keepOnMachine(flags, () => secretHolder(readFiles(paths)), ', or compare with --resources');
  return await askQuestion<Difference>(flags, '/diff', question, ({ access, problems }) =>
    [access, problems].every(Array.isArray),
  );
}

/** Says which is the first thing that holds a secret, with its place. */
function secretHolder(files: ReadonlyMap<string, FileContent>): string | undefined {
  const { resources, rejected } = collect(parseFiles(files));
  // A document that holds a secret is not kept. What is rejected or left out may hold one.
  const secret =
    [...resources.values()].find(({ document }) => document === undefined) ??
    [...rejected.values()].find(({ kind }) => kind === 'Secret' || kind === 'Filter');
  if (secret !== undefined)
    return `${formatSource(secret.source)}: ${secret.kind} ${secret.namespace}/${secret.name} holds a secret`;
  const filter = leftOut(files, parseOptions()).find(({ kind }) => kind === 'Filter');
  return filter && `${filter.file}: a Filter for the gateway ${filter.ids} holds a secret`;
}

function compareFiles(
  { files, whole = false, remove = [], envoy = false }: DiffQuestion,
  paths: readonly string[],
): Difference {
  const { resources, rejected, problems } = readResources(paths);
  return diff({
    inForce: { resources, closed: [...rejected.values()] },
    given: {
      files: parseFiles(new Map(files.map(({ name, text }) => [name, { text }]))),
      whole,
      remove,
    },
    known: problems,
    options: compileOptions({}),
    now: Date.now(),
    envoy,
  });
}

/** Shows on a terminal, in red, which requests pass more easily. */
function coloured(difference: Difference): string {
  const stream = process.stdout;
  return describe(difference).replace(/^ {2}! .*$/gm, line =>
    styleText(['bold', 'red'], line, { stream }),
  );
}
