import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { TARGETING_KINDS } from '#controlplane/gateway-api/targeting-statuses.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { lead } from '#kubernetes/lease.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { ServedObject } from '#resources/kubernetes/served-object.ts';
import { awaitsAnswer } from './awaited-answer.ts';
import { BundleVersionsReader } from './bundle-versions.ts';
import { classFinalizers } from './class-finalizers.ts';
import { type GatewayStatusParts, gatewayStatusWrites } from './gateway-status-writes.ts';
import type { Metrics } from './metrics.ts';
import { type ObjectFacts, objectStates } from './object-state.ts';
import { objectStatus, statusOnceLeft, takesBack } from './object-status.ts';
import { type Candidacy, openCandidacy } from './status-candidacy.ts';
import { statusLeaseName } from './status-lease-name.ts';
import { type StatusWrite, StatusWriter, type StatusWriterParts } from './status-writer.ts';

export type KubernetesStatusParts = {
  readonly cluster: Cluster;
  /** The namespaces whose objects are read. Undefined means all. */
  readonly namespaces: readonly string[] | undefined;
  /** The API group of the objects whose status is written. */
  readonly group: string;
  readonly gatewayId: string;
  /** Identity by which this control plane holds its Lease. */
  readonly holder: string;
  /**
   * Returns what is known of the last reading.
   * @returns undefined when nothing was read
   */
  facts(): StatusFacts | undefined;
  /** Returns the objects as they are now. */
  objects(): readonly ServedObject[];
  /** What statuses of Gateway API say beside what is read. */
  readonly gateways: Omit<GatewayStatusParts, 'now' | 'versions'>;
  readonly metrics: Metrics;
  readonly log: Logger;
  now(): number;
  after(ms: number, callback: () => void): () => void;
  random(): number;
};

/** What is known of the last reading. */
export type StatusFacts = ObjectFacts & {
  readonly objects: readonly ServedObject[];
  readonly gatewayApi: readonly ServedObject[];
  /** Groups of proxies that have all ACKed what they are served. */
  readonly settled: ReadonlySet<string>;
};

export type KubernetesStatus = {
  /** Called when something has changed that a status may show. */
  changed(): void;
  /** Returns why this control plane cannot write statuses, or those of some kinds. */
  troubles(): readonly string[];
  /** Returns whether another control plane was last seen to write statuses. */
  writtenElsewhere(): boolean;
  /** Stops writing, and releases the Lease. */
  close(): Promise<void>;
};

/** When the holder vanishes, another takes over within 10 to 12 s. */
const LEASE_SECONDS = 10;

/**
 * For this time after its start, in ms, a control plane may not have all reports of services yet.
 * Until then it takes back nothing that another control plane wrote about the current version of an
 * object.
 */
const HEARS_ALL_MS = 15_000;

/**
 * Writes statuses of Kubernetes objects. Of several control planes only the holder of the Lease
 * writes. The others add what their own proxies have accepted, where it waits for that.
 */
export function writeKubernetesStatus(parts: KubernetesStatusParts): KubernetesStatus {
  const { cluster, gatewayId, metrics, log, now, after, random } = parts;
  const lease = statusLeaseName(gatewayId);
  let early = true;
  const bundle = new BundleVersionsReader({ cluster, after, onChange: () => writer.stir() });
  const versions = () => bundle.versions;
  const gatewayWrites = gatewayStatusWrites({ ...parts.gateways, versions, now });
  let closed = false;
  const common = { cluster, log, now, after, random };
  const wrote: StatusWriterParts['wrote'] = result => metrics.statusWritten(result);
  const answers = new StatusWriter({
    ...common,
    outdated: () => (closed ? [] : outdatedGatewayApi(parts, gatewayWrites, true)),
    wrote,
  });
  answers.lead(true);
  const writer = new StatusWriter({
    ...common,
    outdated: () => {
      // The streams of reporting services end next, though the Lease may still be ours.
      if (closed) return [];
      return together([
        ...outdated(parts).filter(({ object, status }) => !(early && takesBack(object, status))),
        ...outdatedGatewayApi(parts, gatewayWrites, false),
      ]);
    },
    wrote,
  });
  const finalizers = new StatusWriter({
    ...common,
    part: 'metadata',
    outdated: () => (closed ? [] : outdatedClasses(parts)),
    wrote: () => {},
  });
  const stopWaiting = after(HEARS_ALL_MS, () => {
    early = false;
    writer.stir();
  });
  let elsewhere = false;
  const onOther = () => {
    elsewhere = true;
  };
  let unheld: string | undefined;
  const tries = (error?: Error) => {
    unheld = error?.message;
  };
  const hasProxies = () => parts.facts()?.proxies === true;
  const candidacy = candidacyOf(parts, { lease, onOther, tries }, leading => {
    if (leading) elsewhere = false;
    // A control plane without proxies releases it again and again.
    const level = hasProxies() ? 'info' : 'debug';
    log[level]({ lease, leading }, leading ? 'writes the status of resources' : 'writes no status');
    metrics.statusLeading(leading);
    writer.lead(leading);
    finalizers.lead(leading);
    answers.lead(!leading && !closed);
  });
  return {
    changed: () => {
      if ((parts.facts()?.gatewayApi.length ?? 0) > 0) bundle.start();
      candidacy.proxies(hasProxies());
      writer.stir();
      finalizers.stir();
      answers.stir();
    },
    writtenElsewhere: () => elsewhere,
    troubles: () => [...(unheld === undefined ? [] : [unheld]), ...writer.refusals()],
    close: () => {
      closed = true;
      answers.lead(false);
      bundle.close();
      stopWaiting();
      return candidacy.close();
    },
  };
}

/**
 * A Lease, and what hears that another holds it, why a try to hold it has failed more than once, or
 * that one has not.
 */
type Tried = { readonly lease: string; onOther(): void; tries(error?: Error): void };

function candidacyOf(
  parts: KubernetesStatusParts,
  { lease: name, onOther, tries }: Tried,
  onLeading: (leading: boolean) => void,
): Candidacy {
  const { cluster, log, now, after, random } = parts;
  const onTrouble = (error: Error, repeated: boolean) => {
    if (repeated) tries(error);
    else log.warn(`cannot hold the Lease ${name}: ${error.message}`);
  };
  const onSuccess = () => tries();
  const lease = { namespace: cluster.namespace, name, durationSeconds: LEASE_SECONDS, onOther };
  let holder = parts.holder;
  return openCandidacy({
    lead: tell => {
      const each = { ...lease, holder };
      // The Lease that is left last may still be being released.
      holder = `${parts.holder}-${randomUUID().slice(0, 8)}`;
      return lead({ cluster, ...each, onLeading: tell, onTrouble, onSuccess, now, after, random });
    },
    onLeading,
    after,
  });
}

/** What was edited after the reading is left for the next time. */
function outdated({ facts, gateways, objects, group, now }: KubernetesStatusParts) {
  const { controller } = gateways.options;
  const known = facts();
  if (known === undefined) return [];
  const read = new Map(known.objects.map(({ uid, parsed }) => [uid, parsed]));
  const stateOf = objectStates(known);
  const statusOf = (object: ServedObject) => {
    const state = stateOf(object);
    if (state !== undefined) return objectStatus(object, state, now());
    return object.parsed.left === true ? statusOnceLeft(object, controller) : undefined;
  };
  return objects().flatMap(object => {
    const isKnown = read.get(object.uid) === object.parsed;
    const ours = object.collection.group === group && !object.deleting && isKnown;
    const status = ours ? statusOf(object) : undefined;
    return status === undefined ? [] : [{ object, status }];
  });
}

/** With `answersAlone` of the objects that await an answer of proxies. */
function outdatedGatewayApi(
  { facts, group, objects }: KubernetesStatusParts,
  writes: ReturnType<typeof gatewayStatusWrites>,
  answersAlone: boolean,
): readonly StatusWrite[] {
  const known = facts();
  if (known === undefined) return [];
  const policies = known.objects.filter(
    ({ collection, parsed }) =>
      collection.group === group &&
      [...parsed.resources, ...parsed.rejected].some(({ kind }) => TARGETING_KINDS.includes(kind)),
  );
  const told = [...known.gatewayApi, ...policies];
  if (told.length === 0) return [];
  const read = new Map(told.map(({ uid, parsed }) => [uid, parsed]));
  const now = objects().filter(
    ({ uid, parsed, deleting }) => !deleting && read.get(uid) === parsed,
  );
  const asked = answersAlone ? now.filter(awaitsAnswer) : now;
  return asked.length === 0 ? [] : writes({ ...known, objects: asked, answersAlone });
}

/** Where not all namespaces are read, a Gateway of another one may use a class. */
function outdatedClasses({ facts, gateways, namespaces, objects }: KubernetesStatusParts) {
  const { gatewayApi = [] } = facts() ?? {};
  if (gatewayApi.length === 0 || namespaces !== undefined) return [];
  const now = objects().filter(({ collection }) => collection.group === GATEWAY_API_GROUP);
  // What was deleted since the reading has its class a little longer.
  const before = gatewayApi.filter(({ collection }) => collection.plural === 'gateways');
  return classFinalizers([...before, ...now], gateways.options.controller);
}

/** What is said of an object in two ways is one write. */
function together(writes: readonly StatusWrite[]): readonly StatusWrite[] {
  const byObject = Map.groupBy(writes, ({ object }) => object);
  return [...byObject].map(([object, all]) => ({
    object,
    status: Object.assign({}, ...all.map(({ status }) => status)),
  }));
}
