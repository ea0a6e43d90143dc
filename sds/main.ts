import pino from 'pino';
import { after } from '#process/after.ts';
import { exitOf, orExit } from '#process/exit.ts';
import { readConfig } from './config.ts';
import { fileSource } from './instances/file-source.ts';
import { mergedSource } from './instances/merged-source.ts';
import { dnsResolver } from './instances/resolve-records.ts';
import { systemLookup } from './instances/system-lookup.ts';
import { watchDns } from './instances/watch-dns.ts';
import { dnsReports, fileReports } from './log-sources.ts';
import { createMetrics } from './metrics.ts';
import { startServer } from './server.ts';

const DNS_TIMEOUT_MS = 5_000;
/** Streams of proxies never end by themselves: what may still end in this time are requests. */
const STOP_GRACE_MS = 500;

const exit = exitOf('sds');
const config = await orExit(exit, () => readConfig(process.env));
const log = pino({ level: config.logLevel, base: null });
const metrics = createMetrics();

const resolve = dnsResolver({ servers: config.dnsServers, timeoutMs: DNS_TIMEOUT_MS, lookup: systemLookup });
const watchName = watchDns({
  resolve,
  after,
  maxTtlSeconds: config.dnsMaxTtlSeconds,
  onQueried: dnsReports(log, metrics),
});
const file = fileSource({
  path: config.instancesFile,
  watchName,
  ...fileReports(config.instancesFile, log, metrics),
});
const { host, port } = config;
const server = await startServer({
  host,
  port,
  source: mergedSource([file]),
  metrics,
  log,
  now: Date.now,
  after,
}).catch((error: Error) => exit(`ADDRESS: cannot listen on ${host} port ${port}: ${error.message}`));

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop); // the supervisor that held the other end of the IPC channel is gone
log.info({ address: server.address, port: server.port, file: config.instancesFile }, 'listening');
process.send?.({ ready: true, address: server.address, port: server.port });

/** Ends within a second and exits 0; another signal ends the process at once. */
async function stop(reason: string): Promise<void> {
  log.info({ reason }, 'stopping');
  await server.stop(STOP_GRACE_MS);
  process.exit(0);
}
