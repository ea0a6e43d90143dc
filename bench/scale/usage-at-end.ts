import { writeSync } from 'node:fs';

/**
 * Loaded into a command by `--import`. Writes what its process has used to the descriptor
 * USAGE_DESCRIPTOR when it ends.
 */
process.on('exit', () => {
  const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage();
  const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1_000, mib: maxRSS / 1_024 };
  writeSync(Number(process.env.USAGE_DESCRIPTOR), JSON.stringify(usage));
});
