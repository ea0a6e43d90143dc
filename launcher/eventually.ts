import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 50;

/** Asks `condition` again and again until it is true; false when it still is not after `ms`. */
export async function eventually(condition: () => Promise<boolean>, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await pause(POLL_MS);
  }
  return true;
}
