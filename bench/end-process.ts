import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const GRACE_MS = 5_000;

/**
 * Ends a process, by force if it takes longer than 5 s (a server may wait for calls that never
 * end). Does nothing for one that has ended already.
 */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  child.kill('SIGTERM');
  await exited;
  clearTimeout(timer);
}
