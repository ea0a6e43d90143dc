import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Load } from './load.ts';
import { runTool } from './run-tool.ts';

export type LoadOptions = {
  /** Default: 64. */
  readonly connections?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** `Cookie` fields. Each request has the next of them. */
  readonly cookies?: readonly string[];
};

/**
 * Runs wrk with one thread for so many seconds. Its connections request `url` as fast as they are
 * answered. Needs Debian's `wrk`.
 */
export async function runWrk(
  url: string,
  seconds: number,
  { connections = 64, cookies, headers = {} }: LoadOptions = {},
): Promise<Load> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...fields];
  if (cookies === undefined) return wrk([...args, url], seconds);
  const folder = mkdtempSync(join(tmpdir(), 'wrk-'));
  const [script, list] = [join(folder, 'cookies.lua'), join(folder, 'cookies')];
  writeFileSync(script, SCRIPT);
  writeFileSync(list, cookies.map(cookie => `${cookie}\n`).join(''), { mode: 0o600 });
  try {
    return await wrk([...args, '-s', script, url, '--', list], seconds);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const SCRIPT = `local requests, last = {}, 0
function init(args)
  for cookie in io.lines(args[1]) do
    wrk.headers["Cookie"] = cookie
    requests[#requests + 1] = wrk.format()
  end
end
function request()
  last = last % #requests + 1
  return requests[last]
end
`;

/** How much longer than its time it may take, in seconds. */
const GRACE_SECONDS = 20;

async function wrk(args: readonly string[], seconds: number): Promise<Load> {
  const stdout = await runTool(
    'wrk',
    args,
    seconds + GRACE_SECONDS,
    'install Debian\'s package "wrk"',
  );
  const number = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? 0);
  const errors =
    /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout) ?? [];
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
