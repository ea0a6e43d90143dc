import { randomBytes } from 'node:crypto';
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { refusalLog } from '#process/refusal-log.ts';
import { EncodeError } from '#protos/encode-error.ts';
import type { Resource } from '#resources/resource.ts';
import type { Node } from '#xds/discovery.ts';
import type { DiscoveryObserver, StreamStatus } from '#xds/discovery-observer.ts';
import { DiscoveryService, type Peer } from '#xds/discovery-service.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import { compile } from './compile/compile.ts';
import { Memo } from './compile/memo.ts';
import { nodeGroups, SERVICE_GROUPS } from './compile/node-groups.ts';
import type { Config } from './config.ts';
import { Controller, type ControllerParts } from './controller.ts';
import { snapshotEncoder } from './envoy-snapshot.ts';
import type { Readiness } from './http.ts';
import { lastGoodKeeper } from './last-good-keeper.ts';
import type { LastGoodStore } from './last-good-store.ts';
import type { Metrics } from './metrics.ts';
import type { ObjectFacts } from './object-standing.ts';
import { problemLog } from './problem-log.ts';
import type { Reading } from './resource-sources.ts';
import { effective } from './rollout.ts';
import { refuseGroup } from './secret-groups.ts';
import { allProblems, type Status, shortTypeName, toStatus } from './status.ts';
import { checkTlsSecrets } from './tls-secrets.ts';
import type { Standing } from './verdict.ts';
import { widen } from './widen.ts';

export type ControlPlaneParts = {
  readonly config: Config;
  readonly store: LastGoodStore;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Called when anything changed that problems or the state of resources may tell. */
  changed?(): void;
  now(): number;
  after(ms: number, callback: () => void): () => void;
};

export type ControlPlane = {
  /** The gRPC services that proxies ask. */
  readonly services: Readonly<Record<string, UntypedServiceImplementation>>;
  /** What the operator wrote, whenever it changes. */
  read(reading: Reading): void;
  readiness(): Readiness;
  status(): Status;
  /** What is known of the objects that were read last; undefined: nothing was read. */
  objectFacts(): (ObjectFacts & Pick<Reading, 'objects'>) | undefined;
  /** What the proxies go by now, or are to go by. */
  inForce(): Iterable<Resource>;
  /** Ends the proxies' streams, and waits until what was accepted is kept. */
  stop(): Promise<void>;
};

/** An Envoy ACKs routes before its workers have them, and requests are on their way: services keep what was before for so long, in ms. */
const LAST_REQUESTS_MS = 1_000;

/** A stranger's words are cut to so many characters before they are logged. */
const MAX_NODE = 100;

/** Ties the reader of resources, the controller and the discovery services together. */
export async function controlPlane(parts: ControlPlaneParts): Promise<ControlPlane> {
  const { config, metrics, log, now, after } = parts;
  const cache = new SnapshotCache();
  const published = new Map<string, Snapshot>();
  let cancelNarrowing = () => {};
  const keeper = await lastGoodKeeper(parts.store, config, log);
  const refused = refusalLog(log, now);
  const refuse = (group: string, peer: Peer, { id }: Node) => {
    const reason = refuseGroup(group, peer, config);
    if (reason !== undefined)
      refused(
        { node: id.slice(0, MAX_NODE), group: group.slice(0, MAX_NODE), address: peer.address, reason },
        'client refused',
      );
    return reason;
  };
  const service = new DiscoveryService({ cache, observer: observer(), refuse, now, after });
  const controller = new Controller(keeper.lastGood, {
    groups: resources => [...SERVICE_GROUPS, ...nodeGroups(resources)],
    services: new Set(SERVICE_GROUPS),
    replicated: config.kubernetes !== undefined,
    compile: compiler(config, log),
    publish: (group, snapshot) => {
      cancelNarrowing();
      published.set(group, snapshot);
      cache.set(group, SERVICE_GROUPS.includes(group) ? widen(cache.get(group), snapshot) : snapshot);
    },
    changedOver: () => {
      cancelNarrowing = after(LAST_REQUESTS_MS, narrow);
    },
    proxies: () => service.streams().map(toStanding),
    keep: accepted => keeper.keep(accepted),
    after,
  });
  const narrow = () => {
    for (const group of SERVICE_GROUPS) {
      const snapshot = published.get(group);
      if (snapshot !== undefined && snapshot !== cache.get(group)) cache.set(group, snapshot);
    }
  };
  const logProblems = problemLog(log);
  let reading: Reading | undefined;

  const known = () => [...(reading?.problems ?? []), ...keeper.problems()];
  const problems = () => allProblems(controller, known(), service.streams());
  const report = () => {
    logProblems(problems());
    parts.changed?.();
  };
  const status = () => toStatus(controller, known(), service.streams());
  return {
    services: service.implementations(),
    read: next => {
      const begun = performance.now();
      const inForce = effective(controller.rollout).values();
      const { problems: found, read: written } = checkTlsSecrets(next.written, inForce, now());
      reading = { ...next, written, problems: [...next.problems, ...found] };
      controller.written(written);
      metrics.published((performance.now() - begun) / 1000);
      report();
    },
    readiness: () => toReadiness(controller.readiness()),
    status,
    objectFacts: () => {
      if (reading === undefined) return undefined;
      const proxies = service.streams().some(({ group }) => !SERVICE_GROUPS.includes(group));
      return { ...reading, rollout: controller.rollout, problems: problems(), proxies };
    },
    inForce: () => effective(controller.rollout).values(),
    stop: () => {
      service.close();
      return keeper.settled();
    },
  };

  function observer(): DiscoveryObserver {
    const changed = () => {
      controller.proxiesChanged();
      report();
    };
    return {
      connected: ({ node, group, address }) => log.info({ node, group, address }, 'proxy connected'),
      disconnected: ({ node, group }) => {
        log.info({ node, group }, 'proxy disconnected');
        changed();
      },
      acked: (_stream, typeUrl) => metrics.acked(shortTypeName(typeUrl)),
      nacked: ({ node, group }, { typeUrl, message }) => {
        metrics.nacked(shortTypeName(typeUrl));
        log.debug({ node, group, type: shortTypeName(typeUrl), message }, 'refused by a proxy');
        changed();
      },
      settled: changed,
    };
  }
}

/** What fails to encode is a mistake of the compiler's: it is logged, and blamed on the resource that shows it. */
function compiler(config: Config, log: Logger): ControllerParts['compile'] {
  const memos = new Map<string, Memo>();
  const encode = snapshotEncoder(randomBytes(32));
  return (resources, group) => {
    const memo = memos.get(group) ?? new Memo();
    memos.set(group, memo);
    const { edge, edgeTls, httpsPort, sds, extAuthz, rateLimit, caFile, hopTls, trustDomain } = config;
    const serviceTls = config.tlsFolder !== undefined;
    const compiled = compile(resources, group, {
      edge,
      edgeTls,
      ...(httpsPort === undefined ? {} : { httpsPort }),
      sds,
      extAuthz,
      rateLimit,
      caFile,
      hopTls,
      serviceTls,
      trustDomain,
      memo,
    });
    try {
      return { snapshot: encode(compiled), problems: compiled.problems };
    } catch (error) {
      if (!(error instanceof EncodeError)) throw error;
      log.error({ group, err: error }, 'the compiler made what Envoy does not take');
      return { error: error.message };
    }
  };
}

function toStanding({ group, standing, types }: StreamStatus): Standing {
  const refusal = Object.values(types).find(({ nack }) => nack !== undefined)?.nack?.message;
  return { group, state: standing, refusal };
}

function toReadiness(reason: string | undefined): Readiness {
  return reason === undefined ? { ready: true } : { ready: false, reason };
}
