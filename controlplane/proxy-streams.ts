import { join } from 'node:path';
import type { Logger } from 'pino';
import { EXT_AUTHZ, RATELIMIT_SERVICE, SDS } from '#controlplane/compile/node-groups.ts';
import { OrderAnswers } from '#controlplane/orders/order-answers.ts';
import { Orders, type ShareDrain } from '#controlplane/orders/orders.ts';
import { paced } from '#controlplane/rollout/paced.ts';
import { refuseGroup } from '#controlplane/sources/secret-groups.ts';
import type { ChangeHistory } from '#controlplane/status/change-history.ts';
import type { Metrics } from '#controlplane/status/metrics.ts';
import { Reports } from '#controlplane/status/reports.ts';
import { shortTypeName, typeLabel } from '#controlplane/status/status.ts';
import { fileDrainedStore } from '#files/drained-store.ts';
import type { After } from '#process/after.ts';
import { failureLog, refusalLog } from '#process/refusal-log.ts';
import type { Any } from '#protos/encode.ts';
import type { Node } from '#xds/discovery.ts';
import type { DiscoveryObserver, StreamInfo } from '#xds/discovery-observer.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import type { Peer } from '#xds/peer.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { Config } from './config.ts';

export type ProxyStreamsParts = {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Tells the other control planes of a drain. Absent when there are none. */
  readonly shareDrain?: ShareDrain | undefined;
  readonly history: ChangeHistory;
  /** Returns whether something is compiled for a group. */
  isKnown(group: string): boolean;
  /** Called when the state of proxies has changed. */
  proxiesChanged(): void;
  /** Called when what is to be told of proxies and services may have changed. */
  changed(): void;
  now(): number;
  readonly after: After;
};

/** Everything that speaks xDS with us: proxies, and our own services. */
export type ProxyStreams = {
  readonly service: DiscoveryService;
  /** What our services report. */
  readonly reports: Reports;
  /** What operators ask of our services. */
  readonly orders: Orders;
  /** Returns why a client may not have a group's configuration, and logs it. */
  refuse(group: string, peer: Peer, node: Pick<Node, 'id'>): string | undefined;
};

/** A node id is cut to this many characters in logs, since any client can choose it. */
const MAX_NODE = 100;

/**
 * After this time, in ms, an unknown group of a proxy is reported. Its resources may be on their
 * way.
 */
const UNKNOWN_GROUP_MS = 1_000;

/**
 * The services that may report. ext-authz and sds are authenticated, since their configuration
 * holds secrets (`refuseGroup`). Without TLS any client can call itself the rate limit service, so
 * its reports are accepted for RateLimits alone.
 */
const REPORTING: ReadonlySet<string> = new Set([EXT_AUTHZ, RATELIMIT_SERVICE, SDS]);

/** Looks at all streams pause 1 ms for this many of them, so that they cost a share of the CPU. */
const STREAMS_PER_MS = 10;

/** Connects what serves xDS. A client that may not have a group's configuration is refused. */
export function proxyStreams(parts: ProxyStreamsParts): ProxyStreams {
  const { changed, config, log, now, after } = parts;
  const cache = new SnapshotCache();
  const store = fileDrainedStore(join(config.state, 'drained.json'), log);
  const answers = new OrderAnswers({ streams: () => service.streams(), after });
  const orders = new Orders({ cache, store, answers, share: parts.shareDrain, after }, SDS);
  const reports = new Reports(now);
  const refuse = refuser(parts);
  const take = ({ group, id }: StreamInfo, made: Any | undefined) => {
    const wrong = reports.take(id, made, group === RATELIMIT_SERVICE ? 'RateLimit' : undefined);
    if (wrong === undefined) answers.take(id, made);
    changed();
    return wrong;
  };
  const proxiesChanged = paced(
    () => {
      parts.proxiesChanged();
      changed();
    },
    () => service.size / STREAMS_PER_MS,
    after,
  );
  const service = new DiscoveryService({
    cache,
    observer: proxyObserver(parts, proxiesChanged),
    refuse,
    reports: { groups: REPORTING, take },
    now,
    after,
  });
  return { service, reports, orders, refuse };
}

/** A new connection changes only one fact: that a proxy of an unknown group is there. */
function unknownGroups({ after, changed, isKnown }: ProxyStreamsParts) {
  let isLooking = false;
  return ({ group }: StreamInfo) => {
    if (isLooking || isKnown(group)) return;
    isLooking = true;
    after(UNKNOWN_GROUP_MS, () => {
      isLooking = false;
      changed();
    });
  };
}

/**
 * Logs and counts what proxies answer to what they are sent. `changed` is called when the state of
 * one changes.
 */
function proxyObserver(parts: ProxyStreamsParts, changed: () => void): DiscoveryObserver {
  const { history, log, metrics, now } = parts;
  const come = unknownGroups(parts);
  const logFailure = failureLog(log, now);
  return {
    failed: (stream, err) =>
      logFailure(
        { err, node: stream?.node, address: stream?.address },
        'an internal error ended a stream',
      ),
    connected: stream => {
      const { node, group, address } = stream;
      log.info({ node, group, address }, 'proxy connected');
      come(stream);
    },
    disconnected: ({ node, group }) => {
      log.info({ node, group }, 'proxy disconnected');
      changed();
    },
    acked: (_stream, typeUrl) => metrics.acked(typeLabel(typeUrl)),
    nacked: (stream, { typeUrl, message }) => {
      const { node, group } = stream;
      metrics.nacked(typeLabel(typeUrl));
      history.nacked(stream, message);
      log.debug({ node, group, type: shortTypeName(typeUrl), message }, 'rejected by a proxy');
      changed();
    },
    settled: stream => {
      history.settled(stream);
      changed();
    },
  };
}

/**
 * Returns the function that says why a client may not have a group's configuration, and logs it.
 */
function refuser({ config, log, now }: ProxyStreamsParts) {
  const logRefusal = refusalLog(log, now);
  return (group: string, peer: Peer, { id }: Pick<Node, 'id'>): string | undefined => {
    const reason = refuseGroup(group, peer, config);
    if (reason !== undefined)
      logRefusal(
        {
          node: id.slice(0, MAX_NODE),
          group: group.slice(0, MAX_NODE),
          address: peer.address,
          reason,
        },
        'client rejected',
      );
    return reason;
  };
}
