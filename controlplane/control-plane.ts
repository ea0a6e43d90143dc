import { join } from 'node:path';
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import {
  EXT_AUTHZ,
  isProxy,
  RATELIMIT_SERVICE,
  SDS,
  SERVICE_GROUPS,
} from '#controlplane/compile/node-groups.ts';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import { checkTlsSecrets } from '#controlplane/compile/tls/tls-secrets.ts';
import type { DiffQuestion } from '#controlplane/diff/diff-request.ts';
import type { Difference } from '#controlplane/diff/difference.ts';
import type { EdgeTrouble } from '#controlplane/edges/edge-troubles.ts';
import type { ExplainQuestion } from '#controlplane/explain/explain-request.ts';
import type { Explanation } from '#controlplane/explain/explanation.ts';
import type { Figures } from '#controlplane/figures/figures.ts';
import { openFigures } from '#controlplane/figures/open-figures.ts';
import type { FilterKeySet } from '#controlplane/knowledge/knowledge.ts';
import { OrderAnswers } from '#controlplane/orders/order-answers.ts';
import { Orders, type ShareDrain } from '#controlplane/orders/orders.ts';
import { Controller } from '#controlplane/rollout/controller.ts';
import { lastGoodKeeper } from '#controlplane/rollout/last-good-keeper.ts';
import type { LastGoodStore } from '#controlplane/rollout/last-good-store.ts';
import { paced } from '#controlplane/rollout/paced.ts';
import { systemProblem } from '#controlplane/rollout/problems.ts';
import { publisher } from '#controlplane/rollout/publisher.ts';
import { effective } from '#controlplane/rollout/rollout.ts';
import type { ClientAck } from '#controlplane/rollout/rollout-verdict.ts';
import { confirmEdits } from '#controlplane/sources/edit-confirmation.ts';
import { editLog } from '#controlplane/sources/edit-log.ts';
import type { Reading } from '#controlplane/sources/resource-sources.ts';
import { refuseGroup } from '#controlplane/sources/secret-groups.ts';
import {
  type Change,
  type ChangeHistory,
  changeHistory,
} from '#controlplane/status/change-history.ts';
import type { StatusFacts } from '#controlplane/status/kubernetes-status.ts';
import type { Metrics } from '#controlplane/status/metrics.ts';
import { problemLog } from '#controlplane/status/problem-log.ts';
import { Reports } from '#controlplane/status/reports.ts';
import {
  allProblems,
  type Status,
  shortTypeName,
  toStatus,
  typeLabel,
} from '#controlplane/status/status.ts';
import { watchUpstreams } from '#controlplane/upstreams/watch-upstreams.ts';
import { fileDrainedStore } from '#files/drained-store.ts';
import { failureLog, refusalLog } from '#process/refusal-log.ts';
import type { Any } from '#protos/encode.ts';
import type { Parser } from '#resources/parse/parse.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Node } from '#xds/discovery.ts';
import type { DiscoveryObserver, StreamInfo, StreamStatus } from '#xds/discovery-observer.ts';
import { DiscoveryService } from '#xds/discovery-service.ts';
import type { Peer } from '#xds/peer.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { Config } from './config.ts';
import { compileOptions, groupCompiler } from './group-compiler.ts';
import type { Readiness } from './http.ts';
import { lookAgain } from './look-again.ts';
import { questions } from './questions.ts';
import { openTokenKeys } from './token-keys.ts';

export type ControlPlaneParts = {
  readonly config: Config;
  readonly parser: Parser;
  readonly store: LastGoodStore;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Asks for the keys of JWT Filters. Without it proxies verify no tokens. */
  keySets?(): Promise<readonly FilterKeySet[]>;
  /** Returns what Gateways lack in a cluster. */
  edges?(): readonly EdgeTrouble[];
  /** Returns why statuses in a cluster are not written. */
  statusTroubles?(): readonly string[];
  /** Tells the other control planes of a drain. Absent when there are none. */
  readonly shareDrain?: ShareDrain | undefined;
  /** Called when anything changed that Problems or the state of resources may show. */
  changed?(): void;
  now(): number;
  after(ms: number, callback: () => void): () => void;
};

export type ControlPlane = {
  /** The gRPC services for proxies. */
  readonly services: Readonly<Record<string, UntypedServiceImplementation>>;
  /** Takes what the operator wrote, at each change. */
  read(reading: Reading): void;
  /** Called when what `edges` tells may have changed. */
  edgesChanged(): void;
  readiness(): Readiness;
  status(): Status;
  /** What the proxies push. */
  readonly figures: Figures;
  /**
   * Follows a request through what is in force. Throws an Error about the question.
   * @returns undefined when too many questions wait
   */
  explain(question: ExplainQuestion): Promise<Explanation> | undefined;
  /**
   * Tells what documents would change of what is in force. Throws an Error about the question.
   * @returns undefined when too many questions wait
   */
  diff(question: DiffQuestion): Promise<Difference> | undefined;
  /**
   * Returns what is known of the objects that were read last.
   * @returns undefined when nothing was read
   */
  objectFacts(): StatusFacts | undefined;
  /** Returns what is in force, or about to be. */
  inForce(): Iterable<Resource>;
  /** Returns all that is in force, or about to be. Making it takes a while. */
  resources(): ResourceSet;
  /** Returns the newest edits, the newest first. */
  changes(): readonly Change[];
  /** What operators ask of our services. */
  readonly orders: Orders;
  /** Ends the proxies' streams, and waits until what was accepted is stored. */
  stop(): Promise<void>;
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

const THREAD_END =
  'the thread that explains requests and compares resources has ended, and starts again on demand';

/** Connects the reader of resources, the controller and the discovery services. */
export async function controlPlane(parts: ControlPlaneParts): Promise<ControlPlane> {
  const { config, metrics, log, now, after } = parts;
  const cache = new SnapshotCache();
  const drained = fileDrainedStore(join(config.state, 'drained.json'), log);
  const answers = new OrderAnswers({ streams: () => service.streams(), after });
  const orders = new Orders(
    { cache, store: drained, answers, share: parts.shareDrain, after },
    SDS,
  );
  const keeper = await lastGoodKeeper({
    store: parts.store,
    parser: parts.parser,
    changed: () => report(),
    after,
  });
  const proxiesChanged = paced(
    () => {
      controller.proxiesChanged();
      report();
    },
    () => service.size / STREAMS_PER_MS,
    after,
  );
  const said = new Reports(now);
  const reports = {
    groups: REPORTING,
    take: ({ group, id }: StreamInfo, made: Any | undefined) => {
      const wrong = said.take(id, made, group === RATELIMIT_SERVICE ? 'RateLimit' : undefined);
      if (wrong === undefined) answers.take(id, made);
      report();
      return wrong;
    },
  };
  let isLooking = false;
  /** A new connection changes only one fact: that a proxy of an unknown group is there. */
  const connected = ({ group }: StreamInfo) => {
    if (isLooking || controller.groups.has(group)) return;
    isLooking = true;
    after(UNKNOWN_GROUP_MS, () => {
      isLooking = false;
      report();
    });
  };
  const history = changeHistory(now);
  const observer = proxyObserver(parts, history, connected, proxiesChanged);
  const refuse = refuser(parts);
  const service = new DiscoveryService({
    cache,
    observer,
    refuse,
    reports,
    now,
    after,
  });
  const logFailure = failureLog(log, now);
  const opened = openFigures({
    on: config.figures,
    connected: () => service.streams().filter(({ group }) => isProxy(group)),
    replicated: config.kubernetes !== undefined,
    refuse: ({ id, group }, peer) => refuse(group, peer, { id }),
    failed: (err, call) =>
      logFailure({ err, address: call.getPeer() }, 'an internal error ended a stream of figures'),
    now,
    after,
  });
  const tokens = openTokenKeys({ ...parts, refuse });
  const options = compileOptions(config);
  const sharing = { ...options, shared: new Memo() };
  const controller = new Controller(keeper.lastGood, {
    groups: resources => [...SERVICE_GROUPS, ...nodeGroups(resources, sharing)],
    services: new Set(SERVICE_GROUPS),
    replicated: config.kubernetes !== undefined,
    compile: groupCompiler(sharing, log, (group, compiled) => {
      opened.compiled(group, compiled);
      upstreams.compiled(group, compiled);
      tokens.compiled(group, compiled.tokens ?? []);
    }),
    ...publisher(orders, after),
    proxies: () => service.streams().map(toClientAck),
    keep: accepted => {
      keeper.keep(accepted);
      edits.settled(controller.rollout);
    },
    // What goes on by time alone changes what is in force, too.
    after: (ms, go) =>
      after(ms, () => {
        go();
        report();
      }),
  });
  const logProblems = problemLog(log);
  const logEdit = editLog(log);
  const edits = confirmEdits(log, config.state, () => performance.now());
  let reading: Reading | undefined;
  let stopLooking = () => {};

  // A service that connected before the resources were read reports more than can be shown.
  const reported = () => (reading === undefined ? [] : said.problems(controller.rollout));
  const known = () => [...(reading?.problems ?? []), ...keeper.problems(), ...reported()];
  const upstreams = watchUpstreams({
    figures: opened.figures,
    missing: () => said.missing(),
    resources: () => effective(controller.rollout),
    connected: () => new Set(service.streams().map(({ group }) => group)),
    replicated: config.kubernetes !== undefined,
    changed: () => report(),
    now,
    after,
  });
  const lacking = () =>
    (parts.edges?.() ?? []).flatMap(({ gateway, severity, field, message }) => {
      const resource = effective(controller.rollout).get(gateway);
      return resource === undefined ? [] : [problemOf(resource, severity, field, message)];
    });
  const unwritten = () =>
    (parts.statusTroubles?.() ?? []).map(reason =>
      systemProblem('Kubernetes', '', `the status of resources is not written: ${reason}`),
    );
  const found = () => [...known(), ...upstreams.problems(), ...lacking(), ...unwritten()];
  const problems = () => allProblems(controller, found(), service.streams());
  const report = () => {
    logProblems(problems());
    parts.changed?.();
  };
  const status = () => ({
    ...toStatus(
      controller,
      found(),
      service.streams(),
      said.outOfService(),
      config.gateways.controller,
    ),
    figures: opened.figures.coverage(),
  });
  const judge = ({ written }: Reading) =>
    checkTlsSecrets(
      written,
      effective(controller.rollout).values(),
      now(),
      config.gateways.controller,
    );
  const read = (next: Reading) => {
    const begun = performance.now();
    const { problems: found, read: written } = judge(next);
    logEdit(written);
    reading = { ...next, written, problems: [...next.problems, ...found] };
    edits.written(written);
    history.written(written);
    controller.written(written);
    edits.settled(controller.rollout);
    metrics.published((performance.now() - begun) / 1000);
    report();
    stopLooking();
    stopLooking = lookAgain(found, {
      find: () => judge(next).problems,
      changed: () => read(next),
      after,
    });
  };
  const asked = questions({
    options: parts.parser.options,
    basis: () => ({
      inForce: {
        resources: effective(controller.rollout),
        closed: controller.inForce.closed,
      },
      known: known(),
      options,
      now: now(),
    }),
    failed: err => log.error({ err }, THREAD_END),
    after,
  });
  return {
    services: { ...service.implementations(), ...tokens.services, ...opened.services },
    figures: opened.figures,
    read,
    edgesChanged: report,
    readiness: () => toReadiness(controller.readiness()),
    status,
    explain: question => asked.explain(question),
    diff: question => asked.diff(question),
    objectFacts: () => {
      if (reading === undefined) return undefined;
      const streams = service.streams();
      const proxies = streams.some(({ group }) => isProxy(group));
      const settled = settledGroups(streams);
      const facts = {
        rollout: controller.rollout,
        problems: problems(),
        outOfService: said.outOfService(),
        compiled: controller.problems(),
      };
      return { ...reading, ...facts, proxies, settled };
    },
    inForce: () => effective(controller.rollout).values(),
    resources: () => controller.inForce,
    changes: history.changes,
    orders,
    stop: () => {
      stopLooking();
      upstreams.close();
      asked.close();
      tokens.close();
      service.close();
      opened.close();
      return keeper.close();
    },
  };
}

/**
 * Logs and counts what proxies answer to what they are sent. `changed` is called when the state of
 * one changes.
 */
function proxyObserver(
  { metrics, log, now }: ControlPlaneParts,
  history: ChangeHistory,
  come: (stream: StreamInfo) => void,
  changed: () => void,
): DiscoveryObserver {
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
function refuser({ config, log, now }: ControlPlaneParts) {
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

/** A group without proxies is not among them. */
function settledGroups(streams: readonly StreamStatus[]): ReadonlySet<string> {
  const waiting = streams.filter(({ standing }) => standing !== 'settled');
  const unsettled = new Set(waiting.map(({ group }) => group));
  return new Set(streams.map(({ group }) => group).filter(group => !unsettled.has(group)));
}

function toClientAck({ id, group, standing, types }: StreamStatus): ClientAck {
  const refusal = Object.values(types).find(({ nack }) => nack !== undefined)?.nack?.message;
  return { id: String(id), group, state: standing, refusal };
}

function toReadiness(reason: string | undefined): Readiness {
  return reason === undefined ? { ready: true } : { ready: false, reason };
}
