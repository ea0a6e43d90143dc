import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** What a command of `gateway` has used: times in ms, and its memory at its highest in MiB. */
export type CommandUsage = { readonly ms: number; readonly cpuMs: number; readonly mib: number };

const CLI = join(import.meta.dirname, '..', '..', 'cli', 'main.ts');
const USAGE = join(import.meta.dirname, 'usage-at-end.ts');
const DESCRIPTOR = 3;

/**
 * Runs a command of `gateway` in a process of its own. Its output must have `wanted`.
 * @throws Error with the output otherwise
 */
export async function runCommand(args: readonly string[], wanted: string): Promise<CommandUsage> {
  const begun = performance.now();
  const child = spawn(process.execPath, ['--import', USAGE, CLI, ...args], {
    env: { ...process.env, USAGE_DESCRIPTOR: String(DESCRIPTOR) },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const [output, usage] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stdio[DESCRIPTOR] as Readable),
    once(child, 'exit'),
  ]);
  if (!output.includes(wanted)) throw new Error(`${args.join(' ')}: ${output.slice(0, 1_000)}`);
  return { ms: performance.now() - begun, ...JSON.parse(usage) };
}
