import type { ChildProcess } from 'node:child_process';
import { on } from 'node:events';

const LONGEST_MS = 60_000;

/** What a control plane has used since it was last asked. */
export type Usage = {
  /** User and system time, in ms. */
  readonly cpuMs: number;
  /** The longest time in which its event loop did nothing else, in ms. */
  readonly longestMs: number;
  /** Memory from the kernel, in MiB. */
  readonly rss: number;
  /** Objects and arrays in use, in MiB. */
  readonly held: number;
};

/**
 * Asks a process that loaded `monitor.ts`. With `collect` it collects garbage first. Other messages
 * of the process are not answers.
 */
export async function usageOf(child: ChildProcess, collect = false): Promise<Usage> {
  const answers = on(child, 'message', { signal: AbortSignal.timeout(LONGEST_MS) });
  child.send({ collect });
  for await (const [message] of answers) if ('cpuMs' in message) return message;
  throw new Error('The control plane has ended');
}
