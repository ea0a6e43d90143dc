import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Usage } from './usage.ts';

/**
 * Loaded into a control plane by `--import`. It answers each message of the parent process with
 * what the process has used since the message before.
 */
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let last = process.cpuUsage();

process.on('message', (question: { readonly collect?: boolean }) => {
  const longestMs = delay.max / 1e6;
  const { user, system } = process.cpuUsage(last);
  if (question.collect === true) global.gc?.();
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
