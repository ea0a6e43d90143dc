import { hostname } from 'node:os';
import { credentials } from '@grpc/grpc-js';
import pino from 'pino';
import type { HostPort } from '#protos/host-port.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { connect } from '#xds/client.ts';
import { readConfig } from './config.ts';
import { openCounterStore } from './open-counter-store.ts';
import { startServer } from './server.ts';

/** The group that the control plane sends limits to. */
const GROUP = 'ratelimit-service';
/** Requests take milliseconds. */
const STOP_GRACE_MS = 500;

const config = orExit(() => readConfig(process.env));
const log = pino({ level: config.logLevel, base: null });
const store = orExit(() => openCounterStore(config, { log, now: Date.now, uptime, random: Math.random }));
const { host, port } = config.address;
const server = await startServer({
  host,
  port,
  store,
  log,
  uptime,
  storeTimeoutMs: config.storeTimeoutMs,
}).catch((error: Error) => exit(`ADDRESS: cannot listen on ${host} port ${port}: ${error.message}`));
const connection = connect({
  address: toText(config.xds),
  credentials: credentials.createInsecure(),
  node: { id: `${hostname()}-${process.pid}`, cluster: GROUP },
  typeUrls: [RATE_LIMIT],
  onUpdate: update => server.update(update),
  onDisconnect: reason =>
    log.warn({ controlPlane: toText(config.xds), reason }, 'no control plane, limits stay'),
  random: Math.random,
  after,
});

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop); // the supervisor that held the other end of the IPC channel is gone
log.info(
  { address: server.address, port: server.port, store: config.redis === undefined ? 'memory' : 'redis' },
  'listening',
);
process.send?.({ listening: true, address: server.address, port: server.port });
await server.serving;
process.send?.({ ready: true });

/** Ends within a second and exits 0; another signal ends the process at once. */
async function stop(reason: string): Promise<void> {
  log.info({ reason }, 'stopping');
  connection.close();
  await server.stop(STOP_GRACE_MS);
  await store.close();
  process.exit(0);
}

function uptime(): number {
  return performance.now();
}

function toText({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

function orExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return exit(error instanceof Error ? error.message : String(error));
  }
}

function exit(message: string): never {
  process.stderr.write(`ratelimit-service: ${message}\n`);
  process.exit(1);
}
