import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { ORDER } from '#protos/type-url.ts';
import { type Snapshot, type XdsResource, xdsResource } from '#xds/snapshot.ts';
import type { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { Drained, DrainedStore } from './drained-store.ts';

type Cache = Pick<SnapshotCache, 'get' | 'set'>;

export type OrderParts = {
  readonly cache: SnapshotCache;
  readonly store: DrainedStore;
  after(ms: number, callback: () => void): () => void;
};

/** How long an order to do something stands, in ms. A service that is connected has it by then. */
const STANDS_MS = 10_000;
/** Orders that stand at the same time, of one group. */
const MOST = 200;

/**
 * Gives orders to our services, beside their configuration. What is drained stays so over a restart
 * of the control plane.
 */
export class Orders implements Cache {
  readonly #parts: OrderParts;
  /** What is served without orders, by group. */
  readonly #plain = new Map<string, Snapshot>();
  readonly #orders = new Map<string, Map<string, XdsResource>>();
  readonly #drained = new Map<string, Drained>();
  #number = 0;

  /** `drainer` is the group that leaves instances out. */
  constructor(parts: OrderParts, drainer: string) {
    this.#parts = parts;
    for (const instance of parts.store.read()) this.#drain(drainer, instance);
  }

  get(group: string): Snapshot | undefined {
    return this.#plain.get(group);
  }

  set(group: string, snapshot: Snapshot): void {
    this.#plain.set(group, snapshot);
    this.#serve(group);
  }

  /** Returns what is drained. */
  get drained(): readonly Drained[] {
    return [...this.#drained.values()];
  }

  /** Has a service do something once. Throws an Error when too much is asked at once. */
  do(group: string, order: JsonObject): void {
    this.#number += 1;
    const name = `${process.pid}-${this.#number}-${Math.trunc(performance.timeOrigin)}`;
    this.#give(group, name, order);
    this.#parts.after(STANDS_MS, () => this.#withdraw(group, name));
  }

  /**
   * Has the discovery service leave an instance out, or no longer. Throws an Error when too much is
   * drained, and the system's error when it cannot be stored.
   */
  drain(group: string, instance: Drained, isDrained: boolean): void {
    if (isDrained) this.#drain(group, instance);
    else {
      const name = nameOf(instance);
      this.#drained.delete(name);
      this.#withdraw(group, name);
    }
    this.#parts.store.write(this.drained);
  }

  #drain(group: string, instance: Drained): void {
    const name = nameOf(instance);
    this.#give(group, name, { drain: { ...instance } });
    this.#drained.set(name, instance);
  }

  #give(group: string, name: string, order: JsonObject): void {
    const orders = this.#orders.get(group) ?? new Map<string, XdsResource>();
    if (orders.size >= MOST) throw new Error('too much is asked at once, ask again in 10 s');
    orders.set(name, xdsResource(name, encodeAny({ '@type': ORDER, ...order })));
    this.#orders.set(group, orders);
    this.#serve(group);
  }

  #withdraw(group: string, name: string): void {
    if (this.#orders.get(group)?.delete(name)) this.#serve(group);
  }

  #serve(group: string): void {
    const plain = this.#plain.get(group);
    if (plain === undefined) return;
    const orders = this.#orders.get(group);
    const served =
      orders === undefined || orders.size === 0
        ? plain
        : new Map([...plain, [ORDER, new Map(orders)]]);
    this.#parts.cache.set(group, served);
  }
}

function nameOf({ address, port }: Drained): string {
  return `drain/${address}/${port}`;
}
