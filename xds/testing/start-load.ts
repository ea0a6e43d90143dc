import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

export type Load = {
  /** How many requests have been answered or have failed. */
  answered(): number;
  /** Ends the load and gives what failed: statuses other than 200, and errors. */
  stop(): Promise<readonly string[]>;
};

/**
 * A pause between a caller's requests: without one the load is all that the machine does, and what
 * it looks at comes late.
 */
const PAUSE_MS = 4;

/**
 * Asks `url` from four callers, hundreds of times a second, until it is stopped or the test is
 * over.
 */
export function startLoad(t: TestContext, url: string): Load {
  let running = true;
  let answered = 0;
  const failures: string[] = [];
  const caller = async () => {
    while (running) {
      const response = await fetch(url).catch(String);
      if (typeof response === 'string') failures.push(response);
      else if (response.status !== 200) failures.push(String(response.status));
      if (typeof response !== 'string') await response.text();
      answered += 1;
      await delay(PAUSE_MS);
    }
  };
  const callers = [caller(), caller(), caller(), caller()];
  const stop = async () => {
    running = false;
    await Promise.all(callers);
    return failures;
  };
  t.after(stop);
  return { answered: () => answered, stop };
}
