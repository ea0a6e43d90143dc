import { Command, InvalidArgumentError } from 'commander';
import { coverageText } from '#controlplane/figures/coverage.ts';
import { describeProblem, escapeControls, withoutAlike } from '#controlplane/rollout/problems.ts';
import type { Status } from '#controlplane/status/status.ts';
import { formatSource } from '#resources/resource.ts';
import { ADDRESS, askStatus, PORT_OFFSET } from './control-plane-address.ts';
import { exitCodeFor } from './report-problems.ts';
import { errorsFirst, wordOf } from './status-view.ts';
import { type WatchFlags, watchStatus } from './watch-status.ts';

type Flags = WatchFlags & { readonly all?: boolean; readonly watch?: boolean };

/** More of one kind or group that are all well are one line. */
const MOST_LISTED = 40;

const EXAMPLES = `
Examples:
  gateway status
  gateway status --watch
  gateway status --all
`;

/**
 * Returns `gateway status`. It prints what a running control plane reports about itself. Exits with
 * 1 when the control plane is not ready or a resource has an error.
 */
export function statusCommand(): Command {
  return new Command('status')
    .description('show resources, problems and proxies of a running control plane')
    .addOption(ADDRESS)
    .addOption(PORT_OFFSET)
    .option('--all', 'list every resource and proxy, however many there are')
    .option('--json', 'print the whole status as JSON')
    .option(
      '--watch',
      'keep showing it: as a view on a terminal, else as lines when something is new',
    )
    .option('--interval <seconds>', 'time between two updates, with --watch', parseSeconds, 2)
    .addHelpText('after', EXAMPLES)
    .action(async ({ all, watch, ...flags }: Flags) => {
      if (watch) return watchStatus(flags);
      const { json, ...where } = flags;
      const status = await askStatus(where);
      process.stdout.write(json ? `${JSON.stringify(status, null, 2)}\n` : statusText(status, all));
      process.exitCode = status.ready ? exitCodeFor(status.problems) : 1;
    });
}

/** Returns the status in words. Without `all`, many that are well share a line. */
export function statusText(status: Status, all = false): string {
  const most = all ? Number.POSITIVE_INFINITY : MOST_LISTED;
  const lines = [
    status.ready ? 'ready' : `not ready: ${status.reason}`,
    ...resourceLines(status.resources, most),
    ...proxyLines(status.proxies, most),
  ];
  const note = coverageText(status.figures);
  if (note !== undefined) lines.push(note);
  return [
    ...lines.map(escapeControls),
    ...withoutAlike(errorsFirst(status.problems)).map(describeProblem),
    '',
  ].join('\n');
}

/** As with the wrong folder, which nothing else tells. */
const NONE =
  'no resource of this gateway is in the folders or namespaces that the control plane reads';

function resourceLines(resources: Status['resources'], most: number): readonly string[] {
  if (resources.length === 0) return [NONE];
  const groups = Map.groupBy(resources, each =>
    each.state === 'in force' ? each.id.slice(0, each.id.indexOf('/')) : each,
  );
  const line = (state: string, what: string) => `${state.padEnd(16)}${what}`;
  return [...groups].flatMap(([kind, alike]) =>
    alike.length > most
      ? line('in force', `${alike.length} of kind ${kind}, which --all lists`)
      : alike.map(({ id, state, ...source }) => line(state, `${id}  ${formatSource(source)}`)),
  );
}

function proxyLines(proxies: Status['proxies'], most: number): readonly string[] {
  const groups = Map.groupBy(proxies, each => (wordOf(each) === 'in sync' ? each.group : each));
  return [...groups].flatMap(([group, alike]) =>
    alike.length > most
      ? `${alike.length} of group ${group} are in sync, which --all lists`
      : alike.flatMap(linesOf),
  );
}

function linesOf(proxy: Status['proxies'][number]): readonly string[] {
  const { address, group, node, types } = proxy;
  const isInSync = wordOf(proxy) === 'in sync';
  const answers = types.map(({ type, sent, acked, nack }) => {
    if (isInSync && !sent && !acked) return `  ${type.padEnd(24)}in sync since it connected`;
    const answer = nack === undefined ? `ACKed ${acked || 'nothing yet'}` : `rejected: ${nack}`;
    return `  ${type.padEnd(24)}sent ${sent || 'nothing yet'}, ${answer}`;
  });
  return [`${node} (${group}) at ${address}`, ...answers];
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+(?:\.\d+)?$/.test(text) && seconds >= 0.2 && seconds <= 3_600) return seconds;
  throw new InvalidArgumentError('want seconds from 0.2 to 3600');
}
