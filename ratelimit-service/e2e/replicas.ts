import type { TestContext } from 'node:test';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { ORDER, RATE_LIMIT } from '#protos/type-url.ts';
import { snapshotOf, xdsResource } from '#xds/snapshot.ts';
import { startDiscoveryServer } from '#xds/testing/discovery-server.ts';
import { connectTo, type ServiceClient } from './service-client.ts';
import { type ServiceProcess, startService } from './service-process.ts';

export type Replica = {
  readonly service: ServiceProcess;
  readonly client: ServiceClient;
  /** Orders something of all replicas, as operators do. */
  order(order: JsonObject): void;
};

/**
 * Starts services with these limits of domain `gateway`, from one discovery server, for as long as
 * the test runs.
 */
export async function startReplicas(
  t: TestContext,
  count: number,
  limits: readonly JsonObject[],
  environment: Readonly<Record<string, string>>,
): Promise<readonly Replica[]> {
  const { cache, port } = await startDiscoveryServer(t);
  const any = encodeAny({ '@type': RATE_LIMIT, domain: 'gateway', limits });
  const limited = xdsResource('default/limits', any);
  cache.set('ratelimit-service', snapshotOf([limited]));
  const order = (given: JsonObject) => {
    const ordered = xdsResource('1', encodeAny({ '@type': ORDER, ...given }));
    cache.set('ratelimit-service', snapshotOf([limited, ordered]));
  };
  const start = async () => {
    const service = await startService(`127.0.0.1:${port}`, environment);
    t.after(() => service.kill());
    await service.ready();
    const client = connectTo(service.address);
    t.after(() => client.close());
    return { service, client, order };
  };
  return Promise.all(Array.from({ length: count }, start));
}

/** Returns a limit that counts each value of one label. */
export function limitOn(key: string, rate: number, unit: 'SECOND' | 'HOUR'): JsonObject {
  return { name: `per ${key}`, rate, unit, pattern: [{ alternatives: [{ key }] }] };
}
