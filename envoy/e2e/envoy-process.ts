import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { until } from './until.ts';

/** A real Envoy of one test, with its own folder and a free admin port. */
export type EnvoyProcess = {
  readonly pid: number;
  /** Base URL of the admin interface. */
  readonly admin: string;
  /** Gets an admin path, as text. */
  get(path: string): Promise<string>;
  /** Waits until a listener accepts connections, and returns its port. */
  listenerPort(name: string): Promise<number>;
  /** Returns all that it has logged. */
  log(): string;
  stop(): Promise<void>;
};

/**
 * Starts Envoy with this bootstrap (JSON form), whose `admin` is replaced. Waits until the admin
 * interface answers. It has one worker, unless `args` say otherwise.
 */
export async function startEnvoy(
  bootstrap: object,
  args: readonly string[] = [],
): Promise<EnvoyProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'envoy-'));
  const config = join(folder, 'bootstrap.yaml');
  const addressFile = join(folder, 'admin');
  const admin = { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } };
  await writeFile(config, toEnvoyYaml({ ...bootstrap, admin }));
  const child = spawn(
    await envoyBinary(),
    [
      '-c',
      config,
      '--disable-hot-restart',
      ...(args.includes('--concurrency') ? [] : ['--concurrency', '1']),
      '-l',
      'warning',
      '--admin-address-path',
      addressFile,
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output: string[] = [];
  child.stdout.on('data', chunk => output.push(String(chunk)));
  child.stderr.on('data', chunk => output.push(String(chunk)));
  const log = () => output.join('');
  const address = await until(async () => {
    if (child.exitCode !== null) throw new Error(`envoy ended with ${child.exitCode}: ${log()}`);
    return (await readFile(addressFile, 'utf8').catch(() => '')) || undefined;
  });
  const base = `http://${address}`;
  const get = async (path: string) => (await fetch(base + path)).text();
  /** The first listeners have their ports before Envoy starts its workers, and listen only then. */
  const isLive = async () => (await get('/ready')).startsWith('LIVE');
  return {
    pid: child.pid ?? 0,
    admin: base,
    get,
    listenerPort: name =>
      until(async () => {
        const port = portOf(JSON.parse(await get('/listeners?format=json')), name);
        return (await isLive()) ? port : undefined;
      }),
    log,
    stop: () => stop(child, folder),
  };
}

type Listeners = {
  listener_statuses?: { name: string; local_address: { socket_address: { port_value: number } } }[];
};

function portOf(listeners: Listeners, name: string): number | undefined {
  return listeners.listener_statuses?.find(l => l.name === name)?.local_address.socket_address
    .port_value;
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = new Promise(resolve => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }
  await rm(folder, { recursive: true, force: true });
}
