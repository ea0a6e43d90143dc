import { join } from 'node:path';
import { formatHostPort } from '#grpc/host-port.ts';
import { exitOf, orExit } from '#process/exit.ts';
import { serviceLog } from '#process/service-log.ts';
import { readConfig } from './config.ts';
import { readKeys } from './keys.ts';
import { createProvider } from './provider.ts';
import { startServer } from './server.ts';

/** A browser's request takes milliseconds. */
const STOP_GRACE_MS = 500;

const exit = exitOf('identity-provider');
const config = await orExit(exit, () => readConfig(process.env));
const log = serviceLog(config.logLevel);
const keys = await readKeys(join(config.state, 'identity-provider.json')).catch((error: Error) =>
  exit(`STATE: cannot keep the keys: ${error.message}`),
);
const { host, port: wanted } = config.address;
const issuerAt = (port: number) => config.issuer ?? `http://${formatHostPort({ host, port })}`;
const server = await startServer({
  host,
  port: wanted,
  provider: port => createProvider({ issuer: issuerAt(port), keys, origins: config.origins, now: Date.now }),
  failed: err => log.error({ err }, 'a request failed'),
}).catch((error: Error) => exit(`ADDRESS: cannot listen on ${host} port ${wanted}: ${error.message}`));

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop); // the supervisor that held the other end of the IPC channel is gone
const { port } = server;
log.info({ issuer: issuerAt(port) }, 'listening');
process.send?.({ ready: true, port });

/** Ends within a second and exits 0; another signal ends the process at once. */
async function stop(reason: string): Promise<void> {
  log.info({ reason }, 'stopping');
  await server.stop(STOP_GRACE_MS);
  process.exit(0);
}
