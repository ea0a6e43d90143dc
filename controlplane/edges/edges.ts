import type { Logger } from 'pino';
import { backOffMs } from '#kubernetes/back-off.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { WriteQueue } from '#kubernetes/write-queue.ts';
import type { After } from '#process/after.ts';
import { Timers } from '#process/timers.ts';
import { type EdgeAddresses, edgeAddresses } from './edge-addresses.ts';
import {
  type EdgeChange,
  edgeChanges,
  isOfOther,
  type WantedEdges,
  wantedObjects,
} from './edge-changes.ts';
import { type EdgeGateway, type EdgeSystem, gatewayIdOf } from './edge-gateway.ts';
import { edgeName } from './edge-names.ts';
import { edgeServices } from './edge-service.ts';
import { podsFailure } from './edge-troubles.ts';
import { FollowedEdges } from './followed-edges.ts';
import { nameTaken, writeEdge } from './write-edge.ts';

export type EdgesParts = {
  readonly cluster: Cluster;
  /** The namespaces of Gateways. Undefined means all. */
  readonly namespaces: readonly string[] | undefined;
  readonly system: EdgeSystem;
  readonly log: Logger;
  /** Called when an address or a trouble may have changed. */
  changed(): void;
  /** Milliseconds since the epoch. */
  now(): number;
  readonly after: After;
  /** Returns a number in [0, 1), for the jitter of the back-off. */
  random(): number;
};

/** Changes are compared after this quiet time, in ms. */
const QUIET_MS = 100;
/**
 * An object that has vanished is made again after this time, in ms. With its Gateway, the cluster
 * removes it before the Gateway is known to be gone.
 */
const VANISHED_MS = 2_000;
/** An object that others change again and again is written again after this time, in ms. */
const REPEAT_MS = 5_000;

/**
 * Makes, changes and removes the objects of Gateways while it leads. It heals what others change of
 * them, and writes nothing that is right.
 */
export class Edges {
  readonly #parts: EdgesParts;
  readonly #followed: FollowedEdges;
  readonly #queue: WriteQueue<EdgeChange>;
  readonly #timers: Timers<'quiet' | 'retry'>;
  /** By key: the last write, and the object that it gave. */
  readonly #written = new Map<string, { readonly at: number; readonly content: string }>();
  /** By key: when it was found to have vanished. */
  readonly #vanished = new Map<string, number>();
  /** By key: why the last write was rejected, and for which Gateways. */
  readonly #rejected = new Map<string, { readonly why: string; readonly of: readonly string[] }>();
  #wanted: WantedEdges | undefined;
  #objects: ReturnType<typeof wantedObjects> = new Map();
  #gateways: ReadonlyMap<string, EdgeGateway> = new Map();
  #leading = false;
  #refusals = 0;

  constructor(parts: EdgesParts) {
    this.#parts = parts;
    this.#timers = new Timers(parts.after);
    const { system, after, random, changed } = parts;
    this.#queue = new WriteQueue({
      keyOf: ({ key }) => key,
      write: change => this.#write(change),
      again: () => this.#stir(),
      after,
      random,
    });
    this.#followed = new FollowedEdges({
      ...parts,
      name: system.name,
      onChange: () => {
        this.#stir();
        changed();
      },
      onTrouble: reason => parts.log.warn(`cannot follow the objects of Gateways: ${reason}`),
    });
  }

  /** Takes what all Gateways ask for. What no Gateway asks for any more is removed. */
  want(wanted: WantedEdges): void {
    this.#wanted = wanted;
    this.#objects = wantedObjects(wanted, this.#parts.system);
    this.#gateways = new Map(wanted.gateways.map(each => [gatewayIdOf(each), each]));
    this.#stir();
  }

  /** Takes whether this process may write. */
  lead(leading: boolean): void {
    this.#leading = leading;
    this.#queue.clear();
    this.#written.clear();
    this.#rejected.clear();
    this.#timers.cancelAll();
    this.#stir();
    this.#parts.changed();
  }

  /**
   * Returns the addresses of a Gateway.
   * @returns undefined when it has no proxies of its own, and `unread` while nothing is known, as
   *   of one whose objects stay as they are
   */
  addressesOf(id: string): EdgeAddresses | 'unread' | undefined {
    const gateway = this.#gateways.get(id);
    if (gateway === undefined) return this.#wanted?.kept.has(id) ? 'unread' : undefined;
    if (!this.#followed.isComplete) return 'unread';
    const services = edgeServices(gateway).map(({ name, clusterIP }) => {
      const key = `Service/${gateway.namespace}/${name}`;
      const found = this.#followed.present.get(key);
      const object = found && !isOfOther(found, id) ? found : undefined;
      return { object, clusterIP, rejected: this.#rejected.get(key)?.why };
    });
    return edgeAddresses(services, gateway.addresses);
  }

  /**
   * Returns why the objects of a Gateway cannot be made, or its pods.
   * @returns undefined when nothing is known to be wrong
   */
  troubleOf(id: string): string | undefined {
    const gateway = this.#gateways.get(id);
    if (gateway === undefined) return undefined;
    // Without a Service beside the first one it lacks an address alone.
    const [, ...further] = edgeServices(gateway);
    const optional = new Set(further.map(({ name }) => `Service/${gateway.namespace}/${name}`));
    const rejected = [...this.#rejected].find(
      ([key, { of }]) => of.includes(id) && !optional.has(key),
    );
    const deployment = this.#deployment(gateway);
    const isOwn = deployment === undefined || !isOfOther(deployment, id);
    return (
      rejected?.[1].why ??
      this.#followed.troubleIn(gateway.namespace) ??
      (isOwn ? podsFailure(deployment) : nameTaken(deployment))
    );
  }

  #deployment({ namespace, name, className }: EdgeGateway) {
    return this.#followed.present.get(`Deployment/${namespace}/${edgeName(name, className)}`);
  }

  close(): void {
    this.lead(false);
    this.#followed.close();
  }

  #stir(): void {
    if (!this.#leading || this.#wanted === undefined || !this.#followed.isComplete) return;
    this.#timers.start('quiet', QUIET_MS, () => this.#compare());
  }

  #compare(): void {
    if (this.#wanted === undefined) return;
    const changes = edgeChanges({
      wanted: this.#wanted,
      objects: this.#objects,
      present: this.#followed.present,
      mayHeal: (key, object) => this.#mayHeal(key, object),
    });
    const keys = new Set(changes.map(({ key }) => key));
    for (const key of this.#rejected.keys()) if (!keys.has(key)) this.#forgive(key);
    for (const key of this.#written.keys()) if (!this.#objects.has(key)) this.#written.delete(key);
    for (const key of this.#vanished.keys()) if (!keys.has(key)) this.#vanished.delete(key);
    this.#queue.set(changes.filter(change => this.#isDue(change)));
  }

  #isDue({ kind, key, isPresent }: EdgeChange): boolean {
    if (kind === 'delete' || isPresent || !this.#written.has(key)) return true;
    const now = this.#parts.now();
    const since = this.#vanished.get(key) ?? now;
    this.#vanished.set(key, since);
    const wait = since + VANISHED_MS - now;
    if (wait > 0) this.#retryIn(wait);
    return wait <= 0;
  }

  /**
   * Whether a write may give an object what it lacks. It may not where the last write did not. The
   * API spells some values in another way.
   */
  #mayHeal(key: string, object: KubernetesObject): boolean {
    const last = this.#written.get(key);
    if (last === undefined) return true;
    if (last.content === contentOf(object)) return false;
    const wait = last.at + REPEAT_MS - this.#parts.now();
    if (wait > 0) this.#retryIn(wait);
    return wait <= 0;
  }

  async #write(change: EdgeChange): Promise<number | undefined> {
    try {
      const { why, object } = await writeEdge(this.#parts.cluster, change);
      if (object !== undefined) this.#took(change.key, object);
      if (why === undefined) this.#succeeded(change);
      else this.#refused(change, why);
      return undefined;
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      this.#tell(change, error.message);
      return error.retryAfterMs ?? 0;
    }
  }

  #took(key: string, object: KubernetesObject): void {
    this.#written.set(key, { at: this.#parts.now(), content: contentOf(object) });
    this.#followed.took(key, object);
  }

  #succeeded({ kind, key }: EdgeChange): void {
    this.#refusals = 0;
    this.#forgive(key);
    this.#parts.log.info({ object: key }, kind === 'apply' ? 'edge written' : 'edge removed');
  }

  #refused(change: EdgeChange, why: string): void {
    this.#tell(change, why);
    this.#refusals += 1;
    this.#retryIn(backOffMs(this.#refusals, this.#parts.random()));
  }

  #retryIn(ms: number): void {
    if (this.#leading) this.#timers.start('retry', ms, () => this.#stir());
  }

  #tell({ key, gateways }: EdgeChange, why: string): void {
    if (!this.#leading || this.#rejected.get(key)?.why === why) return;
    this.#rejected.set(key, { why, of: gateways });
    this.#parts.log.warn({ object: key, why }, 'edge not written');
    this.#parts.changed();
  }

  #forgive(key: string): void {
    if (this.#rejected.delete(key)) this.#parts.changed();
  }
}

/** What a write changes of an object, as text. */
function contentOf({ metadata, status: _, ...content }: KubernetesObject): string {
  const { labels, annotations, ownerReferences } = metadata;
  return JSON.stringify([content, labels, annotations, ownerReferences]);
}
