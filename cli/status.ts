import { Command } from 'commander';
import { describeProblem } from '#controlplane/problems.ts';
import type { Status } from '#controlplane/status.ts';

/** `gateway status`: what a running control plane says of itself. Exits with 1 when it is not ready or a resource has an error. */
export function statusCommand(): Command {
  return new Command('status')
    .description('show resources, problems and proxies of a running control plane')
    .option('--address <host:port>', 'HTTP address of the control plane', '127.0.0.1:8877')
    .option('--json', 'print the whole status as JSON')
    .action(async (options: { address: string; json?: boolean }) => {
      const status = await fetchStatus(options.address);
      process.stdout.write(options.json ? `${JSON.stringify(status, null, 2)}\n` : describe(status));
      const errors = status.problems.some(({ severity }) => severity === 'error');
      process.exitCode = status.ready && !errors ? 0 : 1;
    });
}

async function fetchStatus(address: string): Promise<Status> {
  let response: Response;
  try {
    response = await fetch(`http://${address}/status`, { signal: AbortSignal.timeout(5_000) });
  } catch {
    throw new Error(`no control plane answers at ${address}; is it running? (--address names another)`);
  }
  if (!response.ok) throw new Error(`the control plane at ${address} answers ${response.status}`);
  return (await response.json()) as Status;
}

function describe(status: Status): string {
  const lines = [status.ready ? 'ready' : `not ready: ${status.reason}`];
  for (const { id, state, file, line } of status.resources)
    lines.push(`${state.padEnd(12)}${id}  ${file}:${line}`);
  for (const { node, group, address, types } of status.proxies) {
    lines.push(`${node} (${group}) at ${address}`);
    for (const { type, sent, acked, nack } of types) {
      const answer = nack === undefined ? `ACKed ${acked || 'nothing yet'}` : `refused: ${nack}`;
      lines.push(`  ${type.padEnd(24)}sent ${sent || 'nothing yet'}, ${answer}`);
    }
  }
  return [...lines, ...status.problems.map(describeProblem), ''].join('\n');
}
