import type { TestContext } from 'node:test';
import { serve } from '#grpc/serve.ts';
import { after } from '#process/after.ts';
import { DISCOVERY } from '../discovery-methods.ts';
import type { DiscoveryObserver } from '../discovery-observer.ts';
import { DiscoveryService } from '../discovery-service.ts';
import type { Peer } from '../peer.ts';
import { SnapshotCache } from '../snapshot-cache.ts';

/**
 * A discovery server on a free port, or the given one, for as long as the test runs or until
 * `stop`.
 */
export async function startDiscoveryServer(
  t: TestContext,
  observer: DiscoveryObserver = {},
  port = 0,
  refuse: (group: string, peer: Peer) => string | undefined = () => undefined,
  keptMs?: number,
  mostNames?: number,
) {
  const cache = new SnapshotCache();
  const service = new DiscoveryService({
    ...{ cache, observer, refuse, now: Date.now, after },
    ...(keptMs === undefined ? {} : { keptMs }),
    ...(mostNames === undefined ? {} : { mostNames }),
  });
  const served = await serve({
    host: '127.0.0.1',
    port,
    services: service.implementations(),
    ...DISCOVERY,
  });
  const stop = async () => {
    service.close();
    await served.stop(100);
  };
  t.after(stop);
  return { cache, service, port: served.port, stop };
}
