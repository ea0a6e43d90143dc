import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';

/**
 * Which of the access log formats a real Envoy refuses: each is that of a listener of its own, all
 * in one Envoy.
 */
export async function rejectedFormats(formats: readonly string[]): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'formats-'));
  const path = join(folder, 'listeners.json');
  await writeFile(path, JSON.stringify({ resources: formats.map(listener) }));
  const lds_config = { path_config_source: { path }, resource_api_version: 'V3' };
  const node = { id: 'test', cluster: 'edge' };
  const envoy = await startEnvoy({ node, dynamic_resources: { lds_config } });
  try {
    const accepted = await acceptedListeners(envoy);
    return formats.filter((_, index) => !accepted.has(String(index)));
  } finally {
    await envoy.stop();
    await rm(folder, { recursive: true });
  }
}

async function acceptedListeners(envoy: EnvoyProcess): Promise<ReadonlySet<string>> {
  const tried = async () =>
    / [1-9]/.test(await envoy.get('/stats?filter=lds.update_(success|rejected)'));
  await until(async () => ((await tried()) ? true : undefined));
  const { listener_statuses = [] } = JSON.parse(await envoy.get('/listeners?format=json'));
  return new Set(listener_statuses.map(({ name }: { name: string }) => name));
}

function listener(format: string, index: number): object {
  const log_format = { text_format_source: { inline_string: format } };
  const manager = {
    stat_prefix: 'test',
    route_config: {},
    http_filters: [
      { name: 'router', typed_config: extension('filters.http.router.v3.Router', {}) },
    ],
    access_log: [
      {
        name: 'log',
        typed_config: extension('access_loggers.stream.v3.StdoutAccessLog', { log_format }),
      },
    ],
  };
  const type = 'filters.network.http_connection_manager.v3.HttpConnectionManager';
  return {
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name: String(index),
    bind_to_port: false,
    address: { socket_address: { address: '127.0.0.1', port_value: 1 + index } },
    filter_chains: [{ filters: [{ name: 'http', typed_config: extension(type, manager) }] }],
  };
}

function extension(type: string, config: object): object {
  return { '@type': `type.googleapis.com/envoy.extensions.${type}`, ...config };
}
