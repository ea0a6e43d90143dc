import { join } from 'node:path';
import { TOOLS } from '#launcher/test-tools.ts';
import { RATE_LIMIT_PATH } from './h2/calls.ts';
import type { Load } from './load.ts';
import { DOMAIN } from './ratelimit/limits.ts';
import { runTool } from './run-tool.ts';

export const CALLERS = 32;
export const CONNECTIONS = 4;
const LONGEST_SECONDS = 120;
const GHZ = join(TOOLS, 'ghz');
const DESCRIPTORS = join(import.meta.dirname, '..', 'protos', 'descriptors.pb');
const MESSAGE = {
  domain: DOMAIN,
  descriptors: [
    {
      entries: [
        { key: 'generic_key', value: 'limit-0' },
        { key: 'n', value: '0' },
      ],
    },
  ],
};

type Report = {
  readonly count: number;
  readonly rps: number;
  readonly statusCodeDistribution: Readonly<Record<string, number>>;
  /** ns. */
  readonly latencyDistribution: readonly {
    readonly percentage: number;
    readonly latency: number;
  }[];
};

/**
 * ghz asks for a rate limit so many times: 32 callers over 4 connections, one descriptor of two
 * labels.
 */
export async function runGhz(port: number, calls: number): Promise<Load> {
  const args = [
    ...['--insecure', '--protoset', DESCRIPTORS, '--call', RATE_LIMIT_PATH.slice(1), '-O', 'json'],
    ...['-n', `${calls}`, '-c', `${CALLERS}`, '--connections', `${CONNECTIONS}`],
    ...['--disable-template-functions', '--disable-template-data', '-d', JSON.stringify(MESSAGE)],
    `127.0.0.1:${port}`,
  ];
  const report: Report = JSON.parse(
    await runTool(GHZ, args, LONGEST_SECONDS, '"npm test" builds it with Go'),
  );
  const at = (wanted: number) =>
    (report.latencyDistribution.find(({ percentage }) => percentage === wanted)?.latency ??
      Number.NaN) / 1e6;
  const { count: requests, rps: perSecond, statusCodeDistribution: statuses } = report;
  return { requests, perSecond, p50: at(50), p99: at(99), failed: calls - (statuses.OK ?? 0) };
}
