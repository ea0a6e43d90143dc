import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { ADMIN_CLUSTER, statsListener } from '#envoy/admin-listeners.ts';
import { envoyBinary } from '#envoy/binary.ts';
import { listenLocally } from '#envoy/e2e/local-server.ts';
import { until } from '#envoy/e2e/until.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { tryHttpRequest } from '#launcher/http-request.ts';
import { mounted, ROOT } from './compose-file.ts';

export const RUN = mounted('/etc/gateway/run-envoy.sh');
/** Pods and containers drain by the same script. */
export const DRAIN = join(ROOT, 'deploy/kubernetes/system/drain-envoy.sh');

export type DrainingEnvoy = {
  /** The shell that runs Envoy, in a process group of its own. */
  readonly shell: ChildProcess;
  /** Resolves with the exit status of the shell, as Docker sees it. */
  readonly status: Promise<number | null>;
  readonly port: number;
  /** The port of a listener that takes connections as they are. */
  readonly tcpPort: number;
  /** The port that Prometheus reads. */
  readonly statsPort: number;
  /** Variables for the scripts where several Envoys share a machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when the upstream has the next request. Its argument answers that request. */
  reached(): Promise<http.ServerResponse>;
};

/**
 * Starts an Envoy as the containers do, in front of an upstream that answers when the test says so.
 */
export async function startDrainingEnvoy(t: TestContext): Promise<DrainingEnvoy> {
  const upstream = http.createServer();
  const { close, port: upstreamPort } = await listenLocally(upstream);
  const [folder, adminPort, port, tcpPort, statsPort] = [
    mkdtempSync(join(tmpdir(), 'drain-')),
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const config = join(folder, 'bootstrap.yaml');
  writeFileSync(
    config,
    toEnvoyYaml(bootstrapOf(adminPort, [port, tcpPort, statsPort], upstreamPort)),
  );
  symlinkSync(await envoyBinary(), join(folder, 'envoy'));
  symlinkSync(DRAIN, join(folder, 'drain-envoy.sh'));
  const env = { PATH: `${folder}:${process.env.PATH}`, ADMIN_PORT: `${adminPort}` };
  const args = ['-c', config, '--disable-hot-restart', '--concurrency', '1', '-l', 'off'];
  const shell = spawn('bash', [RUN, ...args], { env, detached: true, stdio: 'ignore' });
  const status = once(shell, 'exit').then(([code]) => code);
  t.after(async () => {
    killGroup(shell);
    await close();
    rmSync(folder, { recursive: true });
  });
  const admin = `127.0.0.1:${adminPort}`;
  await until(
    async () =>
      (await tryHttpRequest({ address: admin, path: '/ready' }))?.status === 200 || undefined,
  );
  return {
    shell,
    status,
    port,
    tcpPort,
    statsPort,
    env,
    reached: async () => (await once(upstream, 'request'))[1],
  };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-Number(pid), 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

function bootstrapOf(
  adminPort: number,
  [port, tcpPort, statsPort]: readonly [number, number, number],
  upstreamPort: number,
) {
  const type = (name: string) => `type.googleapis.com/envoy.extensions.filters.${name}`;
  const address = (at: number) => ({
    address: { socket_address: { address: '127.0.0.1', port_value: at } },
  });
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'upstream', timeout: '0s' } }];
  const manager = {
    '@type': type('network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'in',
    http_filters: [{ name: 'router', typed_config: { '@type': type('http.router.v3.Router') } }],
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
  };
  const proxy = {
    '@type': type('network.tcp_proxy.v3.TcpProxy'),
    stat_prefix: 'tcp',
    cluster: 'upstream',
  };
  const listener = (name: string, at: number, typed_config: object) => ({
    name,
    ...address(at),
    filter_chains: [{ filters: [{ name, typed_config }] }],
  });
  const cluster = (name: string, at: number) => ({
    name,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: address(at) }] }],
    },
  });
  return {
    admin: address(adminPort),
    static_resources: {
      listeners: [
        listener('manager', port, manager),
        listener('proxy', tcpPort, proxy),
        statsListener(`127.0.0.1:${statsPort}`),
      ],
      clusters: [cluster('upstream', upstreamPort), cluster(ADMIN_CLUSTER, adminPort)],
    },
  };
}
