import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What wrk counted: requests in all, a second, and how long they took in ms. */
export type Load = {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Answers other than 2xx and 3xx, and errors of sockets. */
  readonly failed: number;
};

/** 64 connections of one thread ask for `url` as fast as they are answered, for so many seconds. Wants Debian's `wrk`. */
export async function runWrk(url: string, seconds: number): Promise<Load> {
  const args = ['-t1', '-c64', `-d${seconds}s`, '--latency', url];
  const { stdout } = await promisify(execFile)('wrk', args).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error('there is no wrk: install Debian\'s package "wrk"') : error;
  });
  const number = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? 0);
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout) ?? [];
  return {
    requests: number(/(\d+) requests in/),
    perSecond: number(/Requests\/sec:\s+([\d.]+)/),
    p50: milliseconds(stdout, '50%'),
    p99: milliseconds(stdout, '99%'),
    failed:
      number(/Non-2xx or 3xx responses: (\d+)/) +
      errors.slice(1).reduce((sum, count) => sum + Number(count), 0),
  };
}

function milliseconds(text: string, percentile: string): number {
  const [, value, unit] = new RegExp(`${percentile}\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? [];
  const scale = { us: 0.001, ms: 1, s: 1000 }[unit ?? ''] ?? Number.NaN;
  return Number(value) * scale;
}
