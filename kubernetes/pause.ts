import type { After } from '#process/after.ts';

/** Resolves after `ms`, or as soon as the signal aborts. */
export function pause(after: After, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve();
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = after(ms, end);
    signal.addEventListener('abort', end);
  });
}
