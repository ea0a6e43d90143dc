import type { After } from '#process/after.ts';

/**
 * Returns a function that runs `work` at once, and then not again for `pauseMs()`. However often it
 * is called meanwhile, the work runs once at the end of the pause. So a thousand answers that come
 * together are looked at a few times.
 */
export function paced(work: () => void, pauseMs: () => number, after: After): () => void {
  let isPausing = false;
  let isAsked = false;
  const run = () => {
    isAsked = false;
    const ms = pauseMs();
    if (ms >= 1) {
      isPausing = true;
      after(ms, () => {
        isPausing = false;
        if (isAsked) run();
      });
    }
    work();
  };
  return () => {
    if (isPausing) isAsked = true;
    else run();
  };
}
