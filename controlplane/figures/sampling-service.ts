import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import {
  FAILED_KEY,
  millionths,
  RUNTIME_LAYER,
  SAMPLED_KEY,
} from '#controlplane/compile/listeners/sampled-requests-log.ts';
import { encodeAny } from '#protos/encode.ts';
import { RUNTIME } from '#protos/type-url.ts';
import type { Node } from '#xds/discovery.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import type { Peer } from '#xds/peer.ts';
import { type Snapshot, snapshotOf, xdsResource } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { Sampling } from './sampling.ts';

const SERVICE = 'envoy.service.runtime.v3.RuntimeDiscoveryService';

/** All groups have the same sampling, so that a request is logged by each proxy on its way. */
const EVERYBODY = 'everybody';

export type SamplingServiceParts = {
  refuse?(group: string, peer: Peer, node: Node): string | undefined;
  now(): number;
  after(ms: number, callback: () => void): () => void;
};

/** Tells proxies which share of their requests they log, as a layer of their runtime. */
export function samplingService({ refuse, now, after }: SamplingServiceParts) {
  const cache = new SnapshotCache();
  const service = new DiscoveryService({
    cache,
    independent: true,
    groupOf: () => EVERYBODY,
    refuse: (_group, peer, node) => refuse?.(node.cluster, peer, node),
    now,
    after,
  });
  const { [SERVICE]: handlers = {} } = service.implementations([RUNTIME]);
  const services: Readonly<Record<string, UntypedServiceImplementation>> = { [SERVICE]: handlers };
  return {
    services,
    set: (sampling: Sampling) => cache.set(EVERYBODY, snapshotFor(sampling)),
    close: () => service.close(),
  };
}

function snapshotFor({ failed, sampled }: Sampling): Snapshot {
  const any = encodeAny({
    '@type': RUNTIME,
    name: RUNTIME_LAYER,
    layer: { [SAMPLED_KEY]: millionths(sampled), [FAILED_KEY]: millionths(failed) },
  });
  return snapshotOf([xdsResource(RUNTIME_LAYER, any)]);
}
