import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Load } from './load.ts';
import { quantile } from './quantile.ts';
import { runTool } from './run-tool.ts';

export type H2loadOptions = {
  readonly requests: number;
  readonly connections: number;
  readonly headers: Readonly<Record<string, string>>;
};

const LONGEST_SECONDS = 120;

/**
 * Runs h2load on `url` by HTTP/1.1 at 127.0.0.1 and this port, whatever host the URL has. It sends
 * so many requests, one after the other on each connection. Needs Debian's `nghttp2-client`.
 */
export async function runH2load(
  url: string,
  port: number,
  { connections, headers, requests }: H2loadOptions,
): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), 'h2load-'));
  const log = join(folder, 'requests');
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const size = ['-n', `${requests}`, '-c', `${connections}`];
  const args = [
    '--h1',
    ...size,
    `--connect-to=127.0.0.1:${port}`,
    `--log-file=${log}`,
    ...fields,
    url,
  ];
  try {
    const printed = await runTool(
      'h2load',
      args,
      LONGEST_SECONDS,
      'install Debian\'s package "nghttp2-client"',
    );
    return { ...parseLog(readFileSync(log, 'utf8'), requests), perSecond: perSecondOf(printed) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Parses lines of when a request began in µs, its status and how many µs it took. There should be
 * `requests` of them. Source: h2load(1), `--log-file`.
 */
export function parseLog(log: string, requests: number): Omit<Load, 'perSecond'> {
  const lines = log.split('\n').filter(line => line !== '');
  const times = lines
    .map(line => line.split('\t'))
    .flatMap(([, status = '', took]) => (/^2\d\d$/.test(status) ? [Number(took) / 1_000] : []));
  if (times.length === 0) throw new Error(`none of ${requests} requests was answered with 2xx`);
  const failed = requests - times.length;
  return { requests, failed, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** Parses `finished in 1.03s, 19417.48 req/s, 2.06MB/s`. */
export function perSecondOf(printed: string): number {
  const found = /^finished in \S+, ([\d.]+) req\/s/m.exec(printed)?.[1];
  if (found === undefined) throw new Error(`h2load says nothing of requests a second: ${printed}`);
  return Number(found);
}
