import { Command } from 'commander';
import { describeProblem, escapeControls, withoutAlike } from '#controlplane/problems.ts';
import type { Status } from '#controlplane/status.ts';
import { portsAt } from '#launcher/ports.ts';
import { formatSource } from '#resources/resource.ts';
import { parseAddress } from './built-in-addresses.ts';
import { parsePortOffset } from './port-offset.ts';
import { exitCodeFor } from './report-problems.ts';

type Flags = { address?: string; portOffset: number; json?: boolean };

/** `gateway status`: what a running control plane says of itself. Exits with 1 when it is not ready or a resource has an error. */
export function statusCommand(): Command {
  return new Command('status')
    .description('show resources, problems and proxies of a running control plane')
    .option('--address <host:port>', 'HTTP address of the control plane (default: 127.0.0.1:8877)')
    .option('--port-offset <number>', 'the one that the gateway was started with', parsePortOffset, 0)
    .option('--json', 'print the whole status as JSON')
    .action(async ({ address, portOffset, json }: Flags) => {
      const status = await fetchStatus(address ?? `127.0.0.1:${portsAt(portOffset).http}`);
      process.stdout.write(json ? `${JSON.stringify(status, null, 2)}\n` : describe(status));
      process.exitCode = status.ready ? exitCodeFor(status.problems) : 1;
    });
}

async function fetchStatus(address: string): Promise<Status> {
  parseAddress('--address', address);
  const response = await ask(`http://${address}/status`);
  if (response === undefined) {
    throw new Error(
      `no control plane answers at ${address}: start one with "npm start", or say with --address or --port-offset where it is`,
    );
  }
  if (!response.ok) throw new Error(`the control plane at ${address} answers ${response.status}`);
  return (await response.json()) as Status;
}

/** Undefined when nobody answers in time. */
async function ask(url: string): Promise<Response | undefined> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(5_000) });
  } catch {
    return undefined;
  }
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
  return [...lines.map(escapeControls), ...withoutAlike(status.problems).map(describeProblem), ''].join('\n');
}
