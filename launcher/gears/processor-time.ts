import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Of a tick of the times in /proc, in ms. Source: proc_pid_stat(5), USER_HZ on Linux. */
const TICK_MS = 10;

/** Where user time is among the fields after the name, which may have spaces. */
const USER_TIME = 11;

/**
 * Returns the processor time of this process and of those that it has started and that have ended,
 * with all of theirs, in ms. Without /proc, of this process alone.
 */
export function processorMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const times = fields.slice(USER_TIME, USER_TIME + 4).map(Number);
    return times.reduce((sum, time) => sum + time, 0) * TICK_MS;
  } catch {
    const { system, user } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}

/**
 * Returns a function that tells which share of the machine's processor time was left over since its
 * last call, from 0 to 1.
 */
export function idleShare(): () => number {
  let last = machineTimes();
  return () => {
    const now = machineTimes();
    const [idle, all] = [now.idle - last.idle, now.all - last.all];
    last = now;
    return all === 0 ? 0 : idle / all;
  };
}

function machineTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map(cpu => cpu.times);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  return {
    idle: sum(times.map(({ idle }) => idle)),
    all: sum(times.flatMap(each => Object.values(each))),
  };
}
