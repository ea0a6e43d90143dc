import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { After } from '#process/after.ts';
import { CLUSTER_LOAD_ASSIGNMENT, SECRET } from '#protos/type-url.ts';
import type { Node } from '#xds/discovery.ts';
import type { DiscoveryObserver, StreamStatus } from '#xds/discovery-observer.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import type { Peer } from '#xds/peer.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import { AggregatedSnapshots, WITHOUT_SECRETS } from './aggregated-snapshots.ts';
import type { Secrets } from './secrets/secrets.ts';

export type DiscoveryOptions = {
  /** Whether instances are served. Their streams wait until the first instances are set. */
  readonly withInstances: boolean;
  /** Undefined when no secrets are served. */
  readonly secrets: Secrets | undefined;
  readonly observer: DiscoveryObserver;
  /** Called when a client at `address` asked for secrets that it may not have. */
  onRejected(address: string, reason: string): void;
  now(): number;
  readonly after: After;
};

export type Discovery = {
  readonly services: Readonly<Record<string, UntypedServiceImplementation>>;
  setInstances(snapshot: Snapshot): void;
  instances(): Snapshot | undefined;
  streams(): readonly StreamStatus[];
};

/** Every proxy is served the same instances, whatever node group it belongs to. */
const ALL = 'all';

const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';

/**
 * Creates the discovery services of instances and of secrets, each by itself and both aggregated.
 * An aggregated stream waits for all that it can bring. A client that may not have secrets gets
 * only the instances there.
 */
export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { withInstances, secrets, observer, now, after } = options;
  const assignments = new SnapshotCache();
  const aggregated = new AggregatedSnapshots(withInstances);
  secrets?.onChange((group, snapshot) => aggregated.setSecrets(group, snapshot));
  const endpoints = withInstances
    ? new DiscoveryService({
        cache: assignments,
        groupOf: () => ALL,
        observer,
        independent: true,
        now,
        after,
      })
    : undefined;
  const secret = secrets && secretService(options, secrets);
  const both = aggregatedService(options, aggregated);
  return {
    services: {
      ...perType(endpoints, CLUSTER_LOAD_ASSIGNMENT),
      ...perType(secret, SECRET),
      ...both.implementations([]),
    },
    setInstances(snapshot) {
      assignments.set(ALL, snapshot);
      aggregated.setInstances(snapshot);
    },
    instances: () => assignments.get(ALL),
    streams: () => [endpoints, secret, both].flatMap(service => service?.streams() ?? []),
  };
}

function perType(service: DiscoveryService | undefined, typeUrl: string): Discovery['services'] {
  const { [ADS]: _aggregated, ...services } = service?.implementations([typeUrl]) ?? {};
  return services;
}

function secretService(
  { observer, onRejected, now, after }: DiscoveryOptions,
  secrets: Secrets,
): DiscoveryService {
  const cache = new SnapshotCache();
  secrets.onChange((group, snapshot) => {
    if (snapshot === undefined) cache.delete(group);
    else cache.set(group, snapshot);
  });
  return new DiscoveryService({
    cache,
    groupOf: node => node.cluster,
    refuse(_group, peer, node) {
      const found = secrets.groupOf(node, peer);
      if (!('error' in found)) return undefined;
      onRejected(peer.address, found.error);
      return found.error;
    },
    observer: counting(observer, secrets),
    independent: true,
    now,
    after,
  });
}

function aggregatedService(
  options: DiscoveryOptions,
  { cache }: AggregatedSnapshots,
): DiscoveryService {
  const { secrets, observer, now, after } = options;
  const groupOf = (node: Node, peer: Peer) => {
    const found = secrets?.groupOf(node, peer);
    return found !== undefined && 'group' in found ? found.group : WITHOUT_SECRETS;
  };
  const counted = counting(observer, secrets);
  return new DiscoveryService({ cache, groupOf, observer: counted, independent: true, now, after });
}

/** Secrets are kept for groups that have a stream. */
function counting(observer: DiscoveryObserver, secrets: Secrets | undefined): DiscoveryObserver {
  return {
    ...observer,
    connected(info) {
      if (info.group !== WITHOUT_SECRETS) secrets?.connected(info.group);
      observer.connected?.(info);
    },
    disconnected(info) {
      if (info.group !== WITHOUT_SECRETS) secrets?.disconnected(info.group);
      observer.disconnected?.(info);
    },
  };
}
