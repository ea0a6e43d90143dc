import type { Logger } from 'pino';
import { serve } from '#protos/serve.ts';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import type { DiscoveryObserver } from '#xds/discovery-observer.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { After } from './after.ts';
import { httpApp } from './http/http-app.ts';
import type { Instances } from './instances/instance.ts';
import { instanceChanges } from './instances/instance-changes.ts';
import type { InstanceSource } from './instances/instance-source.ts';
import { instancesSnapshot } from './instances/instances-snapshot.ts';
import type { Metrics } from './metrics.ts';
import { statusOf } from './status.ts';

export type ServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly source: InstanceSource;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  now(): number;
  readonly after: After;
};

export type Server = {
  readonly address: string;
  readonly port: number;
  /** Ends the source and the server; what is in flight may end for `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** Every proxy is served the same instances, whatever node group it belongs to. */
const GROUP = 'all';

/**
 * Serves the instances of the source on one port: endpoint discovery over gRPC (state of the world and delta, aggregated or
 * not), and all of httpApp over HTTP/1.1. Until the source has answered, streams wait and gRPC health is NOT_SERVING.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { host, port, source, metrics, log, now, after } = options;
  const cache = new SnapshotCache();
  let instances: Instances | undefined;
  const observer = observerOf(metrics, log);
  const discovery = new DiscoveryService({ cache, groupOf: () => GROUP, observer, now, after });
  const app = httpApp({
    instances: () => instances,
    status: () => statusOf(instances ?? new Map(), cache.get(GROUP) ?? new Map(), discovery.streams()),
    onAnswered(request) {
      metrics.httpAnswered(request.status);
      log.debug(request, 'request');
    },
    onError: err => log.error({ err }, 'an HTTP request failed'),
    metrics: metrics.registry,
  });
  const services = discovery.implementations([CLUSTER_LOAD_ASSIGNMENT]);
  const served = await serve({ host, port, services, http: app });
  const endWatch = source.watch(next => {
    const before = instances ?? new Map();
    instances = next;
    cache.set(GROUP, instancesSnapshot(next));
    served.setServing(true);
    metrics.served(next);
    for (const change of instanceChanges(before, next)) log.info(change, 'instances changed');
  });
  const stop = (graceMs: number) => {
    endWatch();
    return served.stop(graceMs);
  };
  return { address: served.address, port: served.port, stop };
}

function observerOf(metrics: Metrics, log: Logger): DiscoveryObserver {
  return {
    connected({ node, address, variant }) {
      metrics.clientConnected();
      log.info({ node, address, variant }, 'client connected');
    },
    disconnected({ node, address }) {
      metrics.clientDisconnected();
      log.info({ node, address }, 'client disconnected');
    },
    acked: () => metrics.acked(),
    nacked({ node }, { names, message }) {
      metrics.nacked();
      log.error({ node, names, reason: message }, 'client refused endpoints');
    },
  };
}
