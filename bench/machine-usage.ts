import { readFileSync } from 'node:fs';

/** CPU time that all cores have had so far, in ticks of the kernel. */
export type CpuTimes = { readonly idle: number; readonly all: number };

/** Reads the times. The guests' time is part of the users'. Source: proc_stat(5). */
export function readCpuTimes(): CpuTimes {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softIrq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return { idle: idle + wait, all: user + nice + system + idle + wait + irq + softIrq + steal };
}

/** Returns the share of the cores' time in between, 0 to 1, in which they were idle. */
export function idleShare(from: CpuTimes, to: CpuTimes): number {
  return (to.idle - from.idle) / Math.max(1, to.all - from.all);
}
