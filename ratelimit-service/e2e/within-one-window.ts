import { randomUUID } from 'node:crypto';

/** Windows are aligned to the wall clock in UTC. */
const HOUR_MS = 3_600_000;

/**
 * Runs a test that counts by the hour or the day, with a client name that nothing was counted for.
 * When it fails and an hour began meanwhile, it runs once more with another name. Its requests were
 * then counted in two windows.
 */
export async function withinOneWindow(run: (client: string) => Promise<void>): Promise<void> {
  const hour = hourNow();
  try {
    await run(randomUUID());
  } catch (error) {
    if (hourNow() === hour) throw error;
    await run(randomUUID());
  }
}

/** Until the hour ends, in seconds. */
export function secondsOfHourLeft(): number {
  return (HOUR_MS - (Date.now() % HOUR_MS)) / 1000;
}

function hourNow(): number {
  return Math.floor(Date.now() / HOUR_MS);
}
