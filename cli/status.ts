import { Command } from 'commander';
import { describeProblem, escapeControls, withoutAlike } from '#controlplane/rollout/problems.ts';
import type { Status } from '#controlplane/status/status.ts';
import { formatSource } from '#resources/resource.ts';
import { ADDRESS_HELP, askControlPlane, type WhereFlags } from './control-plane-address.ts';
import { parsePortOffset } from './port-offset.ts';
import { exitCodeFor } from './report-problems.ts';

type Flags = WhereFlags & { readonly json?: boolean };

/**
 * Returns `gateway status`. It prints what a running control plane reports about itself. Exits with
 * 1 when the control plane is not ready or a resource has an error.
 */
export function statusCommand(): Command {
  return new Command('status')
    .description('show resources, problems and proxies of a running control plane')
    .option('--address <host:port>', ADDRESS_HELP)
    .option(
      '--port-offset <number>',
      'the one that the gateway was started with',
      parsePortOffset,
      0,
    )
    .option('--json', 'print the whole status as JSON')
    .action(async ({ json, ...where }: Flags) => {
      const response = await askControlPlane(where, '/status');
      const status = (await response.json()) as Status;
      process.stdout.write(json ? `${JSON.stringify(status, null, 2)}\n` : describe(status));
      process.exitCode = status.ready ? exitCodeFor(status.problems) : 1;
    });
}

function describe(status: Status): string {
  const lines = [status.ready ? 'ready' : `not ready: ${status.reason}`];
  for (const { id, state, ...source } of status.resources)
    lines.push(`${state.padEnd(16)}${id}  ${formatSource(source)}`);
  for (const { node, group, address, types } of status.proxies) {
    lines.push(`${node} (${group}) at ${address}`);
    for (const { type, sent, acked, nack } of types) {
      const answer = nack === undefined ? `ACKed ${acked || 'nothing yet'}` : `refused: ${nack}`;
      lines.push(`  ${type.padEnd(24)}sent ${sent || 'nothing yet'}, ${answer}`);
    }
  }
  return [
    ...lines.map(escapeControls),
    ...withoutAlike(status.problems).map(describeProblem),
    '',
  ].join('\n');
}
