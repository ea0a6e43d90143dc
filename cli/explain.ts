import { Command } from 'commander';
import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { type ClientRequest, parseClientRequest } from '#controlplane/explain/client-request.ts';
import { describe } from '#controlplane/explain/describe.ts';
import type { ExplainQuestion } from '#controlplane/explain/explain-request.ts';
import { type Explanation, explain } from '#controlplane/explain/explanation.ts';
import { describeProblem, withoutAlike } from '#controlplane/rollout/problems.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { isReserved, SECRET_HEADERS } from '#resources/words/reserved-headers.ts';
import { compileOptions } from './built-in-addresses.ts';
import { checkNodeGroup } from './check-node-group.ts';
import {
  ADDRESS,
  askQuestion,
  keepOnMachine,
  PORT_OFFSET,
  RESOURCES,
  type WhereFlags,
} from './control-plane-address.ts';
import { readResources } from './read-resources.ts';
import { shorten } from './shorten.ts';

type Flags = WhereFlags & {
  readonly header?: readonly string[];
  readonly from: string;
  readonly resources?: readonly string[];
  readonly nodeGroup: string;
  readonly all?: boolean;
  readonly json?: boolean;
};

const EXAMPLES = `
Asks the running control plane, or reads the files of --resources, whose problems go to stderr.
Exits with 0 when a service would get the request, else with 1.

Examples:
  gateway explain GET http://localhost:8080/user/health
  gateway explain GET /chat -H 'Connection: Upgrade' -H 'Upgrade: websocket'
  gateway explain POST /login -H 'Host: shop.example.com' --from 203.0.113.7 --resources my-resources
`;

/**
 * Returns `gateway explain`. It shows the way of a request and the reasons. Exits with 1 when no
 * service gets the request.
 */
export function explainCommand(): Command {
  return new Command('explain')
    .description(
      'show the route, filters, labels and rate limits of a request, and why others do not apply',
    )
    .usage('[options] <method> <url>')
    .argument('[method]', 'request method, for example GET')
    .argument('[url]', 'http://host/path?query, or /path for host localhost')
    .option('-H, --header <name: value>', 'a header of the request (repeatable)', collect)
    .option('--from <address>', 'IP address that the request comes from', '127.0.0.1')
    .addOption(ADDRESS)
    .addOption(PORT_OFFSET)
    .addOption(RESOURCES)
    .option('--node-group <group>', 'the proxies that get the request', 'edge')
    .option(
      '--all',
      'also show all limits that do not apply, and the earlier rules that do not match',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(run);
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

async function run(_method: unknown, _url: unknown, flags: Flags, command: Command): Promise<void> {
  const { method, url, resources } = requestOf(command, flags.resources);
  // A mistake in the request is reported without asking the control plane.
  const request = parseClientRequest(method, url, flags);
  const { nodeGroup } = flags;
  const explanation =
    resources === undefined
      ? await explainRunning(method, url, flags, request)
      : explainFiles(request, resources.map(shorten), nodeGroup);
  process.stdout.write(
    flags.json ? `${JSON.stringify(explanation, null, 2)}\n` : describe(explanation, flags.all),
  );
  process.exitCode = explanation.answer === undefined ? 0 : 1;
}

/** `--resources` takes all that follows it, so its last paths may be the method and the URL. */
function requestOf(command: Command, paths: readonly string[] | undefined) {
  const given = command.args.length;
  const own = (paths?.length ?? 0) - (2 - given);
  const taken = paths !== undefined && own > 0 ? paths.slice(own) : [];
  const [method, url] = [...command.args, ...taken];
  if (method === undefined || url === undefined)
    command.error(`error: missing required argument '${given === 0 ? 'method' : 'url'}'`);
  return { method, url, resources: paths?.slice(0, paths.length - taken.length) };
}

/** Asks the running control plane, which knows what is in force. */
async function explainRunning(
  method: string,
  url: string,
  flags: Flags,
  request: ClientRequest,
): Promise<Explanation> {
  keepOnMachine(flags, () => secretIn(request), ', or name files with --resources');
  const { from, header: headers = [], nodeGroup } = flags;
  const question: ExplainQuestion = { method, url, headers, from, nodeGroup };
  return await askQuestion<Explanation>(
    flags,
    '/explain',
    question,
    ({ request }) => request?.nodeGroup !== undefined,
  );
}

function secretIn({ headers }: ClientRequest): string | undefined {
  const secret = headers.find(({ name }) => isReserved(name, SECRET_HEADERS));
  return secret && `the header ${secret.name} holds credentials`;
}

function explainFiles(
  request: ClientRequest,
  paths: readonly string[],
  nodeGroup: string,
): Explanation {
  const { problems: found, rejected, resources } = readResources(paths);
  const set = toResourceSet(resources.values(), rejected.values());
  checkNodeGroup(nodeGroup, nodeGroups(set));
  const options = compileOptions({});
  const { explanation, problems } = explain({
    resources: set,
    problems: found,
    nodeGroup,
    request,
    options,
  });
  for (const problem of withoutAlike(problems))
    process.stderr.write(`${describeProblem(problem)}\n`);
  return explanation;
}
