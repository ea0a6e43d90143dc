import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 50;

/**
 * Repeats `condition` until it is true.
 * @returns false when it is still false after `ms`
 */
export async function eventually(condition: () => Promise<boolean>, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await pause(POLL_MS);
  }
  return true;
}
