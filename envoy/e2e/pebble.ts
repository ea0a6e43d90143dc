import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { askHttps } from './https-request.ts';
import { until } from './until.ts';

const PEBBLE = findTool('pebble');
const DNS = findTool('pebble-challtestsrv');

/** Why tests with an ACME authority are skipped, or false. */
export const noPebble = PEBBLE.skip || DNS.skip;

export type PebbleOptions = {
  /** Where it listens, an address of this machine. Default: 127.0.0.1. */
  readonly address?: string;
  /** Where it asks for proofs. */
  readonly httpPort: number;
  readonly tlsPort: number;
  /** Life of what it issues. Default: 90 days. */
  readonly seconds?: number;
};

/** A real ACME authority, for which every name is one machine. */
export type Pebble = {
  readonly directory: string;
  /** The file with the authority of its own https, for NODE_EXTRA_CA_CERTS. */
  readonly caFile: string;
  /** Starts it. Every name is `edge`, an address. Default: 127.0.0.1. It stays after a kill. */
  start(edge?: string): Promise<void>;
  /** Ends it, and all that it knows. */
  kill(): Promise<void>;
  /** Returns what it says of the certificate with this serial, such as `Revoked`. */
  statusOf(serial: string): Promise<string>;
  /** Returns the root of what it issues, PEM. It is another one after each start. */
  root(): Promise<string>;
  log(): string;
  /** Ends it, with its DNS and files. */
  remove(): Promise<void>;
};

/** Prepares it. One nonce in ten is rejected, as an authority may do. */
export async function preparePebble(options: PebbleOptions): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'pebble-'));
  const [port = 0, management = 0, dnsPort = 0] = await freePorts(3);
  const { address = '127.0.0.1', httpPort, seconds = 90 * 86_400, tlsPort } = options;
  const host = address === '127.0.0.1' ? 'localhost' : address;
  const { ca, certificate, key } = await (await testAuthority()).issue(['localhost', host]);
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const pebble = {
    listenAddress: `${address}:${port}`,
    managementListenAddress: `${address}:${management}`,
    certificate: file('crt', certificate),
    privateKey: file('key', key),
    httpPort,
    tlsPort,
    domainBlocklist: ['blocked.example.com'],
    keyAlgorithm: 'ecdsa',
    profiles: { default: { description: 'all', validityPeriod: seconds } },
  };
  const config = file('config.json', JSON.stringify({ pebble }));
  const output: string[] = [];
  const run = (path: string, args: readonly string[]) => {
    const child = spawn(path, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => output.push(String(chunk)));
    return child;
  };
  const off = ['-http01', '-https01', '-doh', '-tlsalpn01', '-management'];
  const dnsFlags = [...off.flatMap(flag => [flag, '']), '-dnsserver', `127.0.0.1:${dnsPort}`];
  let dns: ChildProcess | undefined;
  let child: ChildProcess | undefined;
  const rootOf = async () => {
    const { body } = await askHttps(
      { host: address, port: management, sni: 'localhost' },
      '/roots/0',
    );
    return body;
  };
  const kill = async () => {
    await end(child);
    child = undefined;
  };
  return {
    directory: `https://${host}:${port}/dir`,
    caFile: file('ca', ca),
    async start(edge = '127.0.0.1') {
      dns ??= run(DNS.path, [...dnsFlags, '-defaultIPv4', edge, '-defaultIPv6', '']);
      child = run(PEBBLE.path, ['-config', config, '-dnsserver', `127.0.0.1:${dnsPort}`]);
      await until(() => rootOf().catch(() => undefined));
    },
    kill,
    async statusOf(serial) {
      const path = `/cert-status-by-serial/${serial.toLowerCase()}`;
      const { body } = await askHttps({ host: address, port: management, sni: 'localhost' }, path);
      return String(JSON.parse(body).Status);
    },
    root: rootOf,
    log: () => output.join(''),
    async remove() {
      await kill();
      await end(dns);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const ENVIRONMENT = {
  ...process.env,
  PEBBLE_VA_NOSLEEP: '1',
  PEBBLE_WFE_NONCEREJECT: '10',
  PEBBLE_AUTHZREUSE: '0',
};

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Returns ports that nothing listens on. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map(server => once(server, 'listening')));
  const ports = servers.map(server => (server.address() as { port: number }).port);
  await Promise.all(servers.map(server => once(server.close(), 'close')));
  return ports;
}
