import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname, networkInterfaces } from 'node:os';
import type { Logger } from 'pino';
import type { ServiceParts, Started } from '#process/run-service.ts';
import { userServiceApp } from './app.ts';
import { clientError } from './client-error.ts';
import type { Config } from './config.ts';
import { createTable } from './create-table.ts';
import { describeError } from './describe-error.ts';
import { startHttpServer } from './http-server.ts';
import { instanceAddress } from './instance.ts';
import { limiter } from './limiter.ts';
import { passwords } from './password.ts';
import { postgresUserStore } from './postgres-user-store.ts';
import { sqliteUserStore } from './sqlite-user-store.ts';
import type { UserStore } from './users.ts';

/**
 * How many passwords are hashed at a time. One thread of libuv's pool of four is left for the rest.
 * glibc keeps up to two blocks of 19 MiB for each thread, 150 MiB in all, and 60 MiB with
 * MALLOC_ARENA_MAX=1 [measured]. Giving them back after each hash costs a third more CPU.
 */
const MAX_HASHES = Math.min(3, availableParallelism());
/** About five seconds of waiting. Further requests are answered 503 at once. */
const MAX_WAITING_HASHES = 256;
const STOP_GRACE_MS = 5000;
const STORE_GRACE_MS = 1000;

/** Starts an instance: its table, its pages and API, its port. */
export async function work({ config, exit, log }: ServiceParts<Config>): Promise<Started> {
  const users = openStore(config, log);
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
  const { host, port: wanted } = config;
  const onClientError = clientError(instance, log);
  const server = await startHttpServer({ host, port: wanted, onRequest: app, onClientError }).catch(
    (error: unknown) =>
      exit(`HOST, PORT: cannot listen on ${host} port ${wanted}: ${describeError(error).error}`),
  );
  const { address, port } = server;
  return {
    facts: { address, port, ...instance, store: config.database.kind },
    ready: { address, port },
    stop: async () => {
      stopping.abort();
      await server.stop(STOP_GRACE_MS);
      // a store that hangs must not keep the process
      setTimeout(() => process.exit(0), STORE_GRACE_MS).unref();
      await users.close();
    },
  };
}

function openStore({ database }: Config, log: Logger): UserStore {
  if (database.kind === 'sqlite') return sqliteUserStore(database.file);
  return postgresUserStore(database.url, error =>
    log.warn({ error: error.message }, 'lost a connection to PostgreSQL'),
  );
}
