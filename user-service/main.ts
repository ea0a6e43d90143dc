import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname, networkInterfaces } from 'node:os';
import pino from 'pino';
import { userServiceApp } from './app.ts';
import { clientError } from './client-error.ts';
import { readConfig } from './config.ts';
import { createTable } from './create-table.ts';
import { describeError } from './describe-error.ts';
import { startHttpServer } from './http-server.ts';
import { instanceAddress } from './instance.ts';
import { limiter } from './limiter.ts';
import { passwords } from './password.ts';
import { postgresUserStore } from './postgres-user-store.ts';
import { sqliteUserStore } from './sqlite-user-store.ts';

/**
 * Password hashes at a time: one thread of libuv's pool of four is left for the rest. glibc keeps up
 * to two blocks of 19 MiB for each thread, 150 MiB in all. To give them back after each hash costs a
 * fifth more CPU [measured].
 */
const MAX_HASHES = Math.min(3, availableParallelism());
/** About five seconds of waiting; more than that is answered 503 at once. */
const MAX_WAITING_HASHES = 256;
const STOP_GRACE_MS = 5000;
const STORE_GRACE_MS = 1000;
/** What is kept of a log that cannot be written. */
const MAX_UNWRITTEN_BYTES = 1_024 * 1_024;

const config = orExit(() => readConfig(process.env));
const output = pino.destination({ sync: true, maxLength: MAX_UNWRITTEN_BYTES });
output.on('error', () => {}); // a log on a full disk does not end the service
const log = pino({ level: config.logLevel, base: null }, output);

const { database } = config;
const users =
  database.kind === 'postgres'
    ? postgresUserStore(database.url, error =>
        log.warn({ error: error.message }, 'lost a connection to PostgreSQL'),
      )
    : sqliteUserStore(database.file);
const stopping = new AbortController();
await createTable(users, log, stopping.signal);

const instance = {
  hostname: config.instanceName ?? hostname(),
  resolvedname: config.instanceAddress ?? instanceAddress(config.host, networkInterfaces()),
};
const app = userServiceApp({
  instance,
  users,
  passwords: passwords(limiter(MAX_HASHES, MAX_WAITING_HASHES)),
  log,
  newUuid: () => randomUUID().replaceAll('-', '').toUpperCase(),
  now: () => performance.now(),
});
const server = await startHttpServer({
  host: config.host,
  port: config.port,
  onRequest: app,
  onClientError: clientError(instance, log),
}).catch((error: unknown) => {
  const { host, port } = config;
  return exit(`HOST, PORT: cannot listen on ${host} port ${port}: ${describeError(error).error}`);
});

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop); // the supervisor that held the other end of the IPC channel is gone
const { address, port } = server;
log.info({ address, port, ...instance, store: database.kind }, 'listening');
if (process.connected) process.send?.({ ready: true, address, port });
else if (process.send !== undefined) void stop('supervisor gone while starting');

/** Finishes what is in flight and exits 0; the same signal a second time ends the process at once. */
async function stop(reason = 'supervisor gone'): Promise<void> {
  if (stopping.signal.aborted) return;
  stopping.abort();
  log.info({ reason }, 'stopping');
  await server.stop(STOP_GRACE_MS);
  setTimeout(() => process.exit(0), STORE_GRACE_MS).unref(); // a store that hangs must not
  await users.close();
  process.exit(0);
}

function orExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return exit(describeError(error).error);
  }
}

function exit(message: string): never {
  process.stderr.write(`user-service: ${message}\n`);
  process.exit(1);
}
