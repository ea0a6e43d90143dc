import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { TOOLS } from '#launcher/test-tools.ts';
import { loadDescriptors } from '#protos/descriptors.ts';
import { RATE_LIMIT_PATH, rateLimitRequest } from './h2/calls.ts';
import type { Load } from './load.ts';
import { runTool } from './run-tool.ts';

export const CALLERS = 32;
export const CONNECTIONS = 4;
const LONGEST_SECONDS = 120;
const GHZ = join(TOOLS, 'ghz');

type Report = {
  readonly count: number;
  readonly rps: number;
  readonly statusCodeDistribution: Readonly<Record<string, number>>;
  /** In ns. */
  readonly latencyDistribution: readonly {
    readonly percentage: number;
    readonly latency: number;
  }[];
};

/**
 * Runs ghz for so many calls, with 32 callers over 4 connections and one descriptor of two labels.
 */
export async function runGhz(port: number, calls: number): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), 'ghz-'));
  const args = [
    ...['--insecure', '--protoset', protoset(folder)],
    ...['--call', RATE_LIMIT_PATH.slice(1), '-O', 'json'],
    ...['-n', `${calls}`, '-c', `${CALLERS}`, '--connections', `${CONNECTIONS}`],
    ...[
      '--disable-template-functions',
      '--disable-template-data',
      '-d',
      JSON.stringify(rateLimitRequest()),
    ],
    `127.0.0.1:${port}`,
  ];
  const from = '"npm test" builds it with Go';
  const printed = await runTool(GHZ, args, LONGEST_SECONDS, from).finally(() =>
    rmSync(folder, { recursive: true }),
  );
  const report: Report = JSON.parse(printed);
  const at = (wanted: number) =>
    (report.latencyDistribution.find(({ percentage }) => percentage === wanted)?.latency ??
      Number.NaN) / 1e6;
  const { count: requests, rps: perSecond, statusCodeDistribution: statuses } = report;
  return { requests, perSecond, p50: at(50), p99: at(99), failed: calls - (statuses.OK ?? 0) };
}

/** Writes the descriptors of the API as a file, because not every server has reflection. */
function protoset(folder: string): string {
  const path = join(folder, 'protoset.pb');
  const set = protobuf.Writer.create();
  for (const { bytes } of loadDescriptors().files.values()) set.uint32(0x0a).bytes(bytes);
  writeFileSync(path, set.finish());
  return path;
}
