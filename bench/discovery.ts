import { serve } from '#grpc/serve.ts';
import { after } from '#process/after.ts';
import { DISCOVERY } from '#xds/discovery-methods.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';

/** Starts the part of the control plane that sends a service its configuration. */
export async function startDiscovery(group: string, snapshot: Snapshot) {
  const cache = new SnapshotCache();
  const service = new DiscoveryService({ cache, now: Date.now, after });
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: service.implementations(),
    ...DISCOVERY,
  });
  cache.set(group, snapshot);
  const stop = () => {
    service.close();
    return served.stop(100);
  };
  return { port: served.port, stop };
}
