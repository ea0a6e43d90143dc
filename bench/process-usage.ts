import { readFileSync } from 'node:fs';

/** A process's memory in MiB from the kernel, at present and at its highest. */
export type Memory = { readonly now: number; readonly highest: number };

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  return { now: mib('VmRSS'), highest: mib('VmHWM') };
}

/** Linux counts in hundredths of a second, whatever the kernel's own tick is. */
const MS_PER_TICK = 10;

/**
 * Returns the user and system time of a process so far, in ms. Unlike the time on a clock it hardly
 * depends on other load.
 */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before the ")" may have spaces. utime and stime are fields 14 and 15
  // (proc_pid_stat(5)).
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * MS_PER_TICK;
}
