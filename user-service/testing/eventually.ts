import { setTimeout as pause } from 'node:timers/promises';

/** Resolves when the condition first holds. Rejects when it does not within `deadlineMs`. */
export async function eventually(
  what: string,
  deadlineMs: number,
  holds: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await pause(20);
  }
}
