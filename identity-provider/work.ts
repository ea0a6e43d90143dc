import { join } from 'node:path';
import { formatHostPort } from '#grpc/host-port.ts';
import type { ServiceParts, Started } from '#process/run-service.ts';
import type { Config } from './config.ts';
import { readKeys } from './keys.ts';
import { createProvider } from './provider.ts';
import { startServer } from './server.ts';

/** A browser's request takes milliseconds. */
const STOP_GRACE_MS = 500;

/** Starts the identity provider. */
export async function work({ config, exit, log }: ServiceParts<Config>): Promise<Started> {
  const keys = await readKeys(join(config.state, 'identity-provider.json')).catch((error: Error) =>
    exit(`STATE: cannot keep the keys: ${error.message}`),
  );
  const { host, port: wanted } = config.address;
  const { origins } = config;
  const issuerAt = (port: number) => config.issuer ?? `http://${formatHostPort({ host, port })}`;
  const server = await startServer({
    host,
    port: wanted,
    provider: port => createProvider({ issuer: issuerAt(port), keys, origins, now: Date.now }),
    failed: err => log.error({ err }, 'a request failed'),
  }).catch((error: Error) =>
    exit(`ADDRESS: cannot listen on ${host} port ${wanted}: ${error.message}`),
  );
  const { port } = server;
  return {
    facts: { issuer: issuerAt(port) },
    ready: { port },
    stop: () => server.stop(STOP_GRACE_MS),
  };
}
