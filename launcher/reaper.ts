import { createInterface } from 'node:readline';

/**
 * Kills the process groups that its parent has named (`+pid`, `-pid`, a line each) when the parent
 * is gone, which ends the input. Needed where the kernel has no such service (see orphan-guard.ts).
 */
const watched = new Set<number>();

createInterface({ input: process.stdin })
  .on('line', line => {
    const pid = Number(line.slice(1));
    if (line.startsWith('+')) watched.add(pid);
    else watched.delete(pid);
  })
  .on('close', () => {
    for (const pid of watched) kill(pid);
  });

function kill(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has ended in the meantime.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
