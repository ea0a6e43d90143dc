import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { until } from '#envoy/e2e/until.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { goInstall } from '#launcher/go-install.ts';
import { TOOLS } from '#launcher/test-tools.ts';
import type { RedisServer } from '#redis/testing/redis-server.ts';
import { endProcess } from '../end-process.ts';
import type { DecisionService } from '../service-process.ts';
import { DOMAIN, RATE } from './limits.ts';

const PACKAGE =
  'github.com/envoyproxy/ratelimit/src/service_cmd@v1.4.1-0.20260122083618-3fb702589d36';
const BINARY = join(TOOLS, 'envoyproxy-ratelimit');

const LONGEST_START_MS = 60_000;
const LONGEST_ANSWER_MS = 1_000;

/** The name of the reference on a page of results. */
export const REFERENCE = `${PACKAGE.split('/src')[0]} (${PACKAGE.split('@')[1]}) in Go`;

/** Builds envoyproxy/ratelimit from its Go module. Throws when it cannot. */
export function buildReference(): void {
  const failure = goInstall(PACKAGE, BINARY, line => void process.stderr.write(`${line}\n`));
  if (failure !== '') throw new Error(failure);
}

/** Starts it with the limits of `startDecisionService`, and ends the Redis with it. */
export async function startReference(limits: number, redis: RedisServer): Promise<DecisionService> {
  const folder = mkdtempSync(join(tmpdir(), 'reference-'));
  mkdirSync(join(folder, 'config'), { recursive: true });
  writeFileSync(join(folder, 'config', 'limits.yaml'), stringify(referenceConfig(limits)));
  const [port, http, debug] = [await freePort(), await freePort(), await freePort()];
  const child = spawn(BINARY, [], {
    env: {
      PATH: process.env.PATH,
      RUNTIME_ROOT: folder,
      RUNTIME_SUBDIRECTORY: '',
      RUNTIME_WATCH_ROOT: 'false',
      GRPC_PORT: String(port),
      PORT: String(http),
      DEBUG_PORT: String(debug),
      USE_STATSD: 'false',
      LOG_LEVEL: 'error',
      REDIS_SOCKET_TYPE: 'tcp',
      REDIS_URL: redis.address,
    },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  await readyAt(`http://127.0.0.1:${http}/healthcheck`, child);
  const stop = async () => {
    await endProcess(child);
    await redis.remove();
    rmSync(folder, { recursive: true });
  };
  return { port, service: child.pid ?? 0, store: redis.pid(), stop };
}

/**
 * Waits until the process answers 200 at this URL. Rejects when it ends before, or takes longer
 * than a minute.
 */
async function readyAt(url: string, child: ChildProcess): Promise<void> {
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    const answer = await fetch(url, { signal: AbortSignal.timeout(LONGEST_ANSWER_MS) }).catch(
      () => undefined,
    );
    return answer?.status === 200 || undefined;
  };
  await until(isReady, LONGEST_START_MS, `an answer of ${url}`);
}

function referenceConfig(limits: number): object {
  const rate_limit = { unit: 'minute', requests_per_unit: RATE };
  const descriptors = Array.from({ length: limits }, (_, i) => ({
    key: 'generic_key',
    value: `limit-${i}`,
    descriptors: [{ key: 'n', rate_limit }],
  }));
  return { domain: DOMAIN, descriptors };
}
