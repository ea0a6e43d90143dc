import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '#grpc/testing/free-port.ts';
import { findTool } from '#launcher/testing/find-tool.ts';

/** A real Redis of its own, on a loopback port that stays the same across restarts. */
export type RedisServer = {
  readonly port: number;
  /** `127.0.0.1:port`. */
  readonly address: string;
  readonly pid: () => number;
  /** Starts it again after `kill`. It has forgotten everything. */
  readonly start: () => Promise<void>;
  /** SIGKILL. */
  readonly kill: () => Promise<void>;
  /** `SIGSTOP` makes it hang, `SIGCONT` go on. */
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Ends it and removes its files. */
  readonly remove: () => Promise<void>;
};

/**
 * Returns why there is no Redis for tests.
 * @returns undefined when there is one
 */
export function whyNoRedis(): string | undefined {
  return findTool('redis-server').skip || undefined;
}

/** Arguments of a server, made from its own folder and its port. */
export type SetUp = { readonly configFile?: string; readonly args?: readonly string[] };

type MakeSetUp = (home: string, port: number) => Promise<SetUp>;

const TRIES = 5;

/** Starts a server that keeps nothing on disk. */
export async function startRedis(setUp: SetUp | MakeSetUp = {}): Promise<RedisServer> {
  const make = typeof setUp === 'function' ? setUp : async () => setUp;
  // A port that was free may be taken by others in the meantime.
  for (let tries = 1; ; tries += 1) {
    try {
      return await startOnce(make);
    } catch (error) {
      if (tries === TRIES || !/in use|bind/i.test(String(error))) throw error;
    }
  }
}

async function startOnce(setUp: MakeSetUp): Promise<RedisServer> {
  const [home, port] = await Promise.all([mkdtemp(join(tmpdir(), 'gateway-redis-')), freePort()]);
  const { args = [], configFile } = await setUp(home, port);
  const all = [
    ...(configFile === undefined ? [] : [configFile]),
    ...[
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--dir',
      home,
      '--save',
      '',
      '--daemonize',
      'no',
    ],
    ...args,
  ];
  let child: ChildProcess | undefined;
  const signal = (name: NodeJS.Signals) => void child?.kill(name);
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const exited = once(child, 'exit');
    signal('SIGKILL');
    await exited;
  };
  const start = async () => {
    child = await run(all);
  };
  const killNow = () => signal('SIGKILL');
  process.setMaxListeners(process.getMaxListeners() + 1);
  process.once('exit', killNow);
  await start();
  return {
    port,
    address: `127.0.0.1:${port}`,
    pid: () => child?.pid ?? 0,
    start,
    kill,
    signal,
    remove: async () => {
      process.off('exit', killNow);
      await kill();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function run(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (/Ready to accept connections|Sentinel ID is/.test(line)) {
      child.stdout.resume(); // or its pipe fills
      // A test may fail before it removes the server. The server then ends with the process.
      child.unref();
      if (child.stdout instanceof Socket) child.stdout.unref();
      return child;
    }
  }
  throw new Error(`redis-server did not start:\n${lines.join('\n')}`);
}
