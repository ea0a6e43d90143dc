import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import type { Usage } from './usage.ts';

/**
 * Loaded into a control plane by `--import`. It answers each message of the parent process with
 * what the process has used since the message before.
 */
const SWEEP_MS = 200;
/** A look each millisecond would cost 50 ms of CPU each second. */
const LOOK_MS = 10;

// Node loads it into each thread of the process too.
if (isMainThread) answer();

function answer(): void {
  const delay = monitorEventLoopDelay({ resolution: LOOK_MS });
  delay.enable();
  let last = process.cpuUsage();
  process.on('message', async (question: { readonly collect?: boolean }) => {
    const longestMs = delay.max / 1e6;
    const { user, system } = process.cpuUsage(last);
    if (question.collect === true) await collect();
    const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
    const mib = (bytes: number) => bytes / 2 ** 20;
    const usage: Usage = {
      cpuMs: (user + system) / 1_000,
      longestMs,
      rss: mib(rss),
      held: mib(heapUsed + arrayBuffers),
    };
    process.send?.(usage);
    last = process.cpuUsage();
    delay.reset();
  });
  process.channel?.unref();
}

/** Buffers are freed by a thread, after the collection that found them unused. */
async function collect(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    global.gc?.();
    await pause(SWEEP_MS);
  }
}
