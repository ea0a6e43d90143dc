import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from '#envoy/e2e/until.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');

/** A rate limit service, or another one of ours, in its own process, on a free port. */
export type ServiceProcess = {
  /** `127.0.0.1:port`. */
  readonly address: string;
  readonly pid: number;
  /** Resolves when it has its limits, or what else it waits for. */
  ready(): Promise<void>;
  /**
   * Returns the value of one line of its metrics, such as
   * `gateway_ratelimit_answers_total{code="OK"}`. It is 0 when there is no such line.
   */
  metric(line: string): Promise<number>;
  /** Returns all that it has logged. */
  log(): string;
  /** Sends SIGKILL or the signal, and resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
};

/**
 * Starts a service that gets its limits from the control plane at `xds` (`host:port`), and waits
 * until it listens. `main` is the program of another service, or of another version.
 */
export async function startService(
  xds: string,
  environment: Readonly<Record<string, string>> = {},
  main = MAIN,
): Promise<ServiceProcess> {
  const env = {
    ...process.env,
    ADDRESS: '127.0.0.1:0',
    WORKERS: '1',
    XDS_ADDRESS: xds,
    ...environment,
  };
  const child = spawn(process.execPath, ['--max-semi-space-size=8', main], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const end = () => void child.kill('SIGKILL');
  process.setMaxListeners(process.getMaxListeners() + 1);
  process.once('exit', end);
  const lines: string[] = [];
  const { promise: listening, resolve, reject } = Promise.withResolvers<number>();
  createInterface({ input: child.stdout }).on('line', line => {
    lines.push(line);
    const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
    if (msg === 'listening' && port !== undefined) resolve(port);
  });
  void exited.then(() => reject(new Error(`The service ended:\n${lines.join('\n')}`)));
  const address = `127.0.0.1:${await listening}`;
  const get = async (path: string) => fetch(`http://${address}${path}`);
  return {
    address,
    pid: child.pid ?? 0,
    ready: () => until(async () => ((await get('/readyz')).ok ? null : undefined)).then(() => {}),
    metric: async line => {
      const text = await (await get('/metrics')).text();
      const found = text.split('\n').find(other => other.startsWith(`${line} `));
      return Number(found?.slice(line.length) ?? 0);
    },
    log: () => lines.join('\n'),
    kill: async (signal = 'SIGKILL') => {
      process.off('exit', end);
      child.kill(signal);
      await exited;
    },
  };
}
