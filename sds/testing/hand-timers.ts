import type { After } from '#process/after.ts';

export type HandTimers = {
  readonly after: After;
  /** The delays, in ms, of the timers that are set. */
  delays(): readonly number[];
  /** Runs every timer that is set now, whatever its delay. */
  runAll(): void;
};

/** Timers that a test runs by hand. */
export function handTimers(): HandTimers {
  const timers = new Set<{ ms: number; run: () => void }>();
  return {
    after(ms, run) {
      const timer = { ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    delays: () => [...timers].map(timer => timer.ms),
    runAll() {
      const due = [...timers];
      timers.clear();
      for (const timer of due) timer.run();
    },
  };
}
