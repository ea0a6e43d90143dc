import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import { EXT_AUTHZ, isProxy, SERVICE_GROUPS } from '#controlplane/compile/node-groups.ts';
import { checkTlsSecrets } from '#controlplane/compile/tls/tls-secrets.ts';
import type { DiffQuestion } from '#controlplane/diff/diff-request.ts';
import type { Difference } from '#controlplane/diff/difference.ts';
import type { ExplainQuestion } from '#controlplane/explain/explain-request.ts';
import type { Explanation } from '#controlplane/explain/explanation.ts';
import type { Figures } from '#controlplane/figures/figures.ts';
import { type OpenFigures, openFigures } from '#controlplane/figures/open-figures.ts';
import type { FilterKeySet } from '#controlplane/knowledge/knowledge.ts';
import type { Orders, ShareDrain } from '#controlplane/orders/orders.ts';
import { Controller } from '#controlplane/rollout/controller.ts';
import { lastGoodKeeper } from '#controlplane/rollout/last-good-keeper.ts';
import type { LastGoodStore } from '#controlplane/rollout/last-good-store.ts';
import { publisher } from '#controlplane/rollout/publisher.ts';
import { effective } from '#controlplane/rollout/rollout.ts';
import type { ClientAck } from '#controlplane/rollout/rollout-verdict.ts';
import { confirmEdits, type EditConfirmation } from '#controlplane/sources/edit-confirmation.ts';
import { editLog } from '#controlplane/sources/edit-log.ts';
import type { Reading } from '#controlplane/sources/resource-sources.ts';
import {
  type Change,
  type ChangeHistory,
  changeHistory,
} from '#controlplane/status/change-history.ts';
import type { StatusFacts } from '#controlplane/status/kubernetes-status.ts';
import type { Metrics } from '#controlplane/status/metrics.ts';
import { problemLog } from '#controlplane/status/problem-log.ts';
import { allProblems, type Status, toStatus } from '#controlplane/status/status.ts';
import { watchUpstreams } from '#controlplane/upstreams/watch-upstreams.ts';
import { failureLog } from '#process/refusal-log.ts';
import type { Parser } from '#resources/parse/parse.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { StreamStatus } from '#xds/discovery-observer.ts';
import { type ClusterTroubles, clusterProblems } from './cluster-problems.ts';
import type { Config } from './config.ts';
import { compileOptions, groupCompiler } from './group-compiler.ts';
import type { Readiness } from './http.ts';
import { lookAgain } from './look-again.ts';
import { type ProxyStreams, proxyStreams } from './proxy-streams.ts';
import { questions } from './questions.ts';
import { openTokenKeys } from './token-keys.ts';

export type ControlPlaneParts = ClusterTroubles & {
  readonly config: Config;
  readonly parser: Parser;
  readonly store: LastGoodStore;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Asks for the keys of JWT Filters. Without it proxies verify no tokens. */
  keySets?(): Promise<readonly FilterKeySet[]>;
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

const THREAD_END =
  'the thread that explains requests and compares resources has ended, and starts again on demand';

/** Connects the reader of resources, the controller and the discovery services. */
export async function controlPlane(parts: ControlPlaneParts): Promise<ControlPlane> {
  const { config, log, now, after } = parts;
  const logProblems = problemLog(log);
  const report = () => {
    logProblems(problems());
    parts.changed?.();
  };
  const keeper = await lastGoodKeeper({
    store: parts.store,
    parser: parts.parser,
    changed: report,
    after,
  });
  const history = changeHistory(now);
  const proxies = proxyStreams({
    ...parts,
    history,
    isKnown: group => controller.groups.has(group),
    proxiesChanged: () => controller.proxiesChanged(),
    changed: report,
  });
  const { orders, reports, service } = proxies;
  const pushed = pushedFigures(parts, proxies);
  const { figures } = pushed;
  const tokens = openTokenKeys({ ...parts, refuse: proxies.refuse, changed: report });
  const options = compileOptions(config);
  const sharing = { ...options, shared: new Memo() };
  const edits = confirmEdits(log, config.state, () => performance.now());
  const controller: Controller = new Controller(keeper.lastGood, {
    groups: resources => [...SERVICE_GROUPS, ...nodeGroups(resources, sharing)],
    services: new Set(SERVICE_GROUPS),
    authorizer: EXT_AUTHZ,
    replicated: config.kubernetes !== undefined,
    compile: groupCompiler(sharing, log, (group, compiled) => {
      pushed.compiled(group, compiled);
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
  const served = () => effective(controller.rollout);
  const upstreams = watchUpstreams({
    figures,
    missing: () => reports.missing(),
    resources: served,
    connected: () => new Set(service.streams().map(({ group }) => group)),
    replicated: config.kubernetes !== undefined,
    changed: report,
    now,
    after,
  });
  const reader = resourceReader(parts, { controller, edits, history, report });
  // A service that connected before the resources were read reports more than can be shown.
  const reported = () => (reader.last() === undefined ? [] : reports.problems(controller.rollout));
  const known = () => [...(reader.last()?.problems ?? []), ...keeper.problems(), ...reported()];
  const found = () => [
    ...known(),
    ...upstreams.problems(),
    ...tokens.problems(served()),
    ...clusterProblems(parts, served()),
  ];
  const problems = () => allProblems(controller, found(), service.streams());
  const outOfService = () => reports.outOfService();
  const asked = questions({
    options: parts.parser.options,
    basis: () => ({
      inForce: { resources: served(), closed: controller.inForce.closed },
      known: known(),
      options,
      now: now(),
    }),
    failed: err => log.error({ err }, THREAD_END),
    after,
  });
  return {
    services: { ...service.implementations(), ...tokens.services, ...pushed.services },
    figures,
    read: reader.read,
    edgesChanged: report,
    readiness: () => toReadiness(controller.readiness()),
    status: () => ({
      ...toStatus(
        controller,
        found(),
        service.streams(),
        outOfService(),
        config.gateways.controller,
      ),
      figures: figures.coverage(),
    }),
    explain: question => asked.explain(question),
    diff: question => asked.diff(question),
    objectFacts: () => {
      const reading = reader.last();
      if (reading === undefined) return undefined;
      const { rollout } = controller;
      const compiled = controller.problems();
      const states = { rollout, problems: problems(), outOfService: outOfService(), compiled };
      return { ...reading, ...states, ...proxyFacts(service.streams()) };
    },
    inForce: () => served().values(),
    resources: () => controller.inForce,
    changes: history.changes,
    orders,
    stop: () => {
      reader.stop();
      upstreams.close();
      asked.close();
      tokens.close();
      service.close();
      pushed.close();
      return keeper.close();
    },
  };
}

function pushedFigures(
  { config, log, now, after }: ControlPlaneParts,
  { refuse, service }: ProxyStreams,
): OpenFigures {
  const logFailure = failureLog(log, now);
  return openFigures({
    on: config.figures,
    connected: () => service.streams().filter(({ group }) => isProxy(group)),
    replicated: config.kubernetes !== undefined,
    refuse: ({ id, group }, peer) => refuse(group, peer, { id }),
    failed: (err, call) =>
      logFailure({ err, address: call.getPeer() }, 'an internal error ended a stream of figures'),
    now,
    after,
  });
}

/** Takes what the operator wrote, and looks again at what changes by time alone. */
function resourceReader(
  { config, log, metrics, now, after }: ControlPlaneParts,
  {
    controller,
    edits,
    history,
    report,
  }: {
    readonly controller: Controller;
    readonly edits: EditConfirmation;
    readonly history: ChangeHistory;
    report(): void;
  },
) {
  const logEdit = editLog(log);
  let last: Reading | undefined;
  let stop = () => {};
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
    last = { ...next, written, problems: [...next.problems, ...found] };
    edits.written(written);
    history.written(written);
    controller.written(written);
    edits.settled(controller.rollout);
    metrics.published((performance.now() - begun) / 1000);
    report();
    stop();
    stop = lookAgain(found, {
      find: () => judge(next).problems,
      changed: () => read(next),
      after,
    });
  };
  return { read, last: () => last, stop: () => stop() };
}

function proxyFacts(streams: readonly StreamStatus[]): Pick<StatusFacts, 'proxies' | 'settled'> {
  return { proxies: streams.some(({ group }) => isProxy(group)), settled: settledGroups(streams) };
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
