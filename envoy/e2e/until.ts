import { setTimeout as delay } from 'node:timers/promises';

/** In ms. */
const PAUSE = { shortest: 5, longest: 200 };
/** A wait is lengthened by no more than this share of it. */
const LATE = 0.05;

/**
 * Repeats until the answer is not undefined. Throws after `withinMs` with what was waited for. What
 * takes long to ask is asked less often, so that waiting does not take the processor's time.
 */
export async function until<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  withinMs = 90_000,
  what = ask.toString(),
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const asked = performance.now();
    const answer = await ask();
    if (answer !== undefined) return answer;
    const now = performance.now();
    if (now - began > withinMs) throw new Error(`Not within ${withinMs} ms: ${what}`);
    const pause = Math.max(PAUSE.shortest, (now - began) * LATE, now - asked);
    await delay(Math.min(pause, PAUSE.longest));
  }
}
