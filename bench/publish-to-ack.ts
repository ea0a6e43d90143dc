import { bootstrap } from '#envoy/bootstrap.ts';
import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { serve } from '#grpc/serve.ts';
import { after } from '#process/after.ts';
import { DISCOVERY } from '#xds/discovery-methods.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';

const GROUP = 'edge';

export type Publishing = {
  /** Publishes to a real Envoy. Resolves with the ms until it has ACKed all of it. */
  publish(snapshot: Snapshot): Promise<number>;
  stop(): Promise<void>;
};

/** Starts a discovery service in this process, and one Envoy that follows it. */
export async function startPublishing(): Promise<Publishing> {
  const cache = new SnapshotCache();
  let settled: (snapshot: Snapshot) => void = () => {};
  const service = new DiscoveryService({
    cache,
    observer: { settled: (_stream, snapshot) => settled(snapshot) },
    now: Date.now,
    after,
  });
  const server = await serve({
    host: '127.0.0.1',
    port: 0,
    services: service.implementations(),
    ...DISCOVERY,
  });
  server.setServing(true);
  const address = `127.0.0.1:${server.port}`;
  const envoy = await startEnvoy(
    bootstrap({ nodeId: 'bench', group: GROUP, xdsAddress: address, sdsAddress: address }),
  );
  const publish = (snapshot: Snapshot) =>
    new Promise<number>(resolve => {
      const begun = performance.now();
      settled = taken => {
        if (taken === snapshot) resolve(performance.now() - begun);
      };
      cache.set(GROUP, snapshot);
    });
  const stop = async () => {
    await envoy.stop();
    await server.stop(0);
  };
  return { publish, stop };
}
