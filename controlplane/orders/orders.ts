import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { ORDER } from '#protos/type-url.ts';
import { type Snapshot, type XdsResource, xdsResource } from '#xds/snapshot.ts';
import type { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { Drained, DrainedStore } from './drained-store.ts';
import type { OrderAnswers, ServiceAnswer } from './order-answers.ts';

type Cache = Pick<SnapshotCache, 'get' | 'set'>;

export type OrderParts = {
  readonly cache: SnapshotCache;
  readonly store: DrainedStore;
  readonly answers: Pick<OrderAnswers, 'isHeard' | 'of'>;
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

  /**
   * Has a service do something once. Resolves with what its processes answer. Throws an Error when
   * none of them takes orders, or too much is asked at once.
   */
  do(group: string, order: JsonObject): Promise<readonly ServiceAnswer[]> {
    this.#wantTaker(group);
    this.#number += 1;
    const name = `${process.pid}-${this.#number}-${Math.trunc(performance.timeOrigin)}`;
    this.#give(group, name, order);
    this.#parts.after(STANDS_MS, () => this.#withdraw(group, name));
    return this.#parts.answers.of({ group, name, withdrawn: false });
  }

  /**
   * Has the discovery service leave an instance out, or no longer. Resolves with what its processes
   * answer. Throws an Error when none of them takes orders, too much is drained, or what is not
   * drained is withdrawn, and the system's error when it cannot be stored.
   */
  drain(group: string, instance: Drained, isDrained: boolean): Promise<readonly ServiceAnswer[]> {
    const name = nameOf(instance);
    if (isDrained) {
      this.#wantTaker(group);
      this.#drain(group, instance);
    } else {
      if (!this.#drained.delete(name)) throw new Error('the instance is not drained');
      this.#withdraw(group, name);
    }
    this.#parts.store.write(this.drained);
    return this.#parts.answers.of({ group, name, withdrawn: !isDrained });
  }

  #wantTaker(group: string): void {
    if (!this.#parts.answers.isHeard(group))
      throw new Error(`no ${group} is connected to this control plane, so nothing was done`);
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
