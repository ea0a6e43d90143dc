import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { until } from '#envoy/e2e/until.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { findTool } from '#launcher/testing/find-tool.ts';

/** An address to scrape, as the PodMonitors would find it. */
export type Target = { readonly job: string; readonly address: string; readonly path: string };

type Series = { readonly metric: Readonly<Record<string, string>> };

export type Prometheus = {
  /** Gets a path of its API. Throws what it says when that is no success. */
  api(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>;
  query(expression: string): Promise<readonly Series[]>;
  stop(): Promise<void>;
};

/** Returns why there is no Prometheus for tests, or undefined. */
export function whyNoPrometheus(): string | undefined {
  return findTool('prometheus').skip || undefined;
}

/** Starts one on a free loopback port. It scrapes each second, and evaluates these rule groups. */
export async function startPrometheus(
  targets: readonly Target[],
  groups: readonly object[],
): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const file = (name: string, content: object) => {
    writeFileSync(join(folder, name), stringify(content));
    return join(folder, name);
  };
  const scrape_configs = targets.map(({ address, job, path }) => ({
    job_name: `${job} ${address}`,
    metrics_path: path,
    static_configs: [{ targets: [address], labels: { job, namespace: 'gateway' } }],
  }));
  const global = { scrape_interval: '1s', evaluation_interval: '1s' };
  const rule_files = [file('rules.yaml', { groups })];
  const port = await freePort();
  const child = spawn(
    findTool('prometheus').path,
    [
      `--config.file=${file('prometheus.yaml', { global, rule_files, scrape_configs })}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const said: string[] = [];
  child.stderr.on('data', chunk => said.push(String(chunk)));
  const api: Prometheus['api'] = async (path, parameters = {}) => {
    const url = `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters)}`;
    const answer = (await (await fetch(url)).json()) as { data: unknown; error?: string };
    if (answer.error !== undefined)
      throw new Error(`${answer.error}: ${JSON.stringify(parameters)}`);
    return answer.data;
  };
  await until(() => {
    if (child.exitCode !== null) throw new Error(said.join(''));
    return api('targets').catch(() => undefined);
  }, 60_000);
  return {
    api,
    query: async query => ((await api('query', { query })) as { result: Series[] }).result,
    stop: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
