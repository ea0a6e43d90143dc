import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats every few ms until the answer is not undefined. Throws after `withinMs` with what was
 * waited for.
 */
export async function until<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  withinMs = 90_000,
  what = ask.toString(),
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await delay(5);
  }
}
