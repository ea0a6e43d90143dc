/**
 * Runs a rate limit service with its counters in memory and one limit, or an ext-authz with the
 * sessions of a file. The first argument names its HTTP/2 implementation. The rest is `ratelimit`
 * and the unit of the limit, or `check` with the file of sessions and that of the resources.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pino from 'pino';
import { checkMethod } from '#ext-authz/check-method.ts';
import { Checker } from '#ext-authz/checker.ts';
import { openFilterKit } from '#ext-authz/filters/open-filter-kit.ts';
import { createMetrics } from '#ext-authz/metrics.ts';
import { openSqliteRecordStore } from '#ext-authz/store/sqlite-record-store.ts';
import { STORE_KEY } from '#ext-authz/testing/store-login.ts';
import { serveOnGrpcJs } from '#grpc/unary/serve-on-grpc-js.ts';
import { serveUnary } from '#grpc/unary/serve-unary.ts';
import { after } from '#process/after.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { MemoryCounterStore } from '#ratelimit-service/memory-counter-store.ts';
import { startServer } from '#ratelimit-service/server.ts';
import { configurationOf } from '../oauth2/configuration.ts';
import { limitResource } from '../ratelimit/limits.ts';

const [server, kind, first = '', second = ''] = process.argv.slice(2);
const log = pino({ level: 'error' });
const uptime = () => performance.now();
const at = { host: '127.0.0.1', port: 0 };

const serve = server === 'grpc-js' ? serveOnGrpcJs : serveUnary;

async function serveRateLimit(unit: string): Promise<number> {
  const store = new MemoryCounterStore({ now: Date.now });
  const started = await startServer({ ...at, store, log, now: Date.now, uptime, serve });
  const changed = [limitResource(0, unit)];
  const nack = (reason: string) => {
    throw new Error(reason);
  };
  started.update({
    typeUrl: RATE_LIMIT,
    changed,
    removed: [],
    complete: true,
    ack: () => {},
    nack,
  });
  return started.port;
}

async function serveCheck(sessions: string, resources: string): Promise<number> {
  const store = await openSqliteRecordStore(sessions, { now: Date.now, uptime });
  const kit = openFilterKit({
    ...{
      store,
      storeKey: STORE_KEY,
      log,
      now: Date.now,
      randomBytes,
      id: randomUUID,
      timeout: AbortSignal.timeout,
    },
    pause: ms => new Promise(resolve => setTimeout(resolve, ms)),
  });
  const checker = new Checker({ kit, log, after, metrics: createMetrics(), uptime });
  checker.use(configurationOf(readFileSync(resources, 'utf8')));
  const onError = (error: unknown) => log.error({ err: error }, 'a check failed');
  return (await serve({ ...at, methods: [checkMethod(checker)], onError })).port;
}

const port = await (kind === 'check' ? serveCheck(first, second) : serveRateLimit(first));
process.once('disconnect', () => process.exit(0));
process.send?.({ listening: true, port });
process.send?.({ ready: true });
