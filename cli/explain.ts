import { delimiter, join, relative } from 'node:path';
import { Command, Option } from 'commander';
import { nodeGroups } from '#controlplane/compile/node-groups.ts';
import { type ClientRequest, parseClientRequest } from '#controlplane/explain/client-request.ts';
import { describe } from '#controlplane/explain/describe.ts';
import { explain } from '#controlplane/explain/explanation.ts';
import { describeProblem } from '#controlplane/problems.ts';
import { parseList } from '#process/environment.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { compileOptions } from './built-in-addresses.ts';
import { checkNodeGroup } from './check-node-group.ts';
import { readResources } from './read-resources.ts';

type Flags = {
  header?: readonly string[];
  from: string;
  resources: readonly string[];
  nodeGroup: string;
  all?: boolean;
  json?: boolean;
};

/** What `npm start` uses. */
const DEMO = join(import.meta.dirname, '..', 'envoy', 'resources');

const EXAMPLES = `
Exits with 0 when a service would get the request, else with 1. Problems of the resources go to stderr.

Examples:
  gateway explain GET http://localhost:8080/user/health
  gateway explain GET /chat -H 'Connection: Upgrade' -H 'Upgrade: websocket'
  gateway explain POST /login -H 'Host: shop.example.com' --from 203.0.113.7 --resources my-resources
`;

/** `gateway explain`: what becomes of a request, and why. Exits with 1 when no service gets it. */
export function explainCommand(): Command {
  return new Command('explain')
    .description('say which route, filters, labels and rate limits a request meets, and why not others')
    .argument('<method>', 'request method, for example GET')
    .argument('<url>', 'http://host/path?query, or /path for host localhost')
    .option('-H, --header <name: value>', 'a header of the request; may be repeated', collect)
    .option('--from <address>', 'IP address that the request comes from', '127.0.0.1')
    .addOption(
      new Option('--resources <paths...>', 'YAML files, or folders of them')
        .default([DEMO], 'envoy/resources, the demo')
        .env('RESOURCES'),
    )
    .option('--node-group <group>', 'the proxies that get the request', 'edge')
    .option(
      '--all',
      'show every limit that does not apply, and every rule that is tried before and does not match',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(run);
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

function run(method: string, url: string, flags: Flags, command: Command): void {
  const request = parseClientRequest(method, url, flags);
  const named = command.getOptionValueSource('resources') === 'env';
  const resources = named ? split(flags.resources.join()) : flags.resources;
  const { explanation, problems } = explainFor(request, resources.map(shorten), flags.nodeGroup);
  for (const problem of problems) process.stderr.write(`${describeProblem(problem)}\n`);
  process.stdout.write(
    flags.json ? `${JSON.stringify(explanation, null, 2)}\n` : describe(explanation, flags.all),
  );
  process.exitCode = explanation.answer === undefined ? 0 : 1;
}

function explainFor(request: ClientRequest, paths: readonly string[], nodeGroup: string) {
  const { problems, refused, resources } = readResources(paths);
  const set = toResourceSet(resources.values(), refused.values());
  checkNodeGroup(nodeGroup, nodeGroups(set));
  return explain({ resources: set, problems, nodeGroup, request, options: compileOptions({}) });
}

/** As the environment has them, and the control plane reads them. */
function split(text: string): readonly string[] {
  return text.trim() === '' ? [DEMO] : parseList('RESOURCES', text, delimiter);
}

/** What is below the working directory is shown, and thus read, without it. */
function shorten(path: string): string {
  const short = relative('.', path);
  return short.startsWith('..') ? path : short || '.';
}
