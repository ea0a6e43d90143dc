import type { Drained, DrainedStore } from '#files/drained-store.ts';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { ORDER } from '#protos/type-url.ts';
import { type Snapshot, type XdsResource, xdsResource } from '#xds/snapshot.ts';
import type { SnapshotCache } from '#xds/snapshot-cache.ts';
import type { OrderAnswers, ServiceAnswer } from './order-answers.ts';

type Cache = Pick<SnapshotCache, 'get' | 'set'>;

export type OrderParts = {
  readonly cache: SnapshotCache;
  readonly store: DrainedStore;
  readonly answers: Pick<OrderAnswers, 'isHeard' | 'of'>;
  /** Tells the other control planes of a drain. Absent when there are none. */
  readonly share?: ShareDrain | undefined;
  after(ms: number, callback: () => void): () => void;
};

/** Rejects when it cannot be written where all control planes read it. */
export type ShareDrain = (instance: Drained, isDrained: boolean) => Promise<void>;

/** How long an order to do something stands, in ms. A service that is connected has it by then. */
const STANDS_MS = 10_000;
/** Orders of one group that stand for some seconds, and instances that are drained. */
const MOST = 200;
const TOO_MUCH = 'too much is asked at once, ask again in 10 s';
const NOT_DRAINED = 'the instance is not drained';

/**
 * Gives orders to our services, beside their configuration. What is drained stays so over a restart
 * of the control plane.
 */
export class Orders implements Cache {
  readonly #parts: OrderParts;
  /** What is served without orders, by group. */
  readonly #plain = new Map<string, Snapshot>();
  readonly #orders = new Map<string, Map<string, XdsResource>>();
  /** How many of them stand for some seconds, by group. */
  readonly #passing = new Map<string, number>();
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
    const passing = this.#passing.get(group) ?? 0;
    if (passing >= MOST) throw new Error(TOO_MUCH);
    this.#number += 1;
    const name = `${process.pid}-${this.#number}-${Math.trunc(performance.timeOrigin)}`;
    this.#give(group, name, order);
    this.#passing.set(group, passing + 1);
    this.#parts.after(STANDS_MS, () => {
      this.#passing.set(group, (this.#passing.get(group) ?? 0) - 1);
      this.#withdraw(group, name);
    });
    return this.#parts.answers.of({ group, name, withdrawn: false });
  }

  /**
   * Tells the other control planes, before `drain`. Rejects when they cannot be told, too much is
   * drained, or what is not drained is withdrawn.
   */
  async share(instance: Drained, isDrained: boolean): Promise<void> {
    if (this.#parts.share === undefined) return;
    if (isDrained && this.#drained.size >= MOST) throw new Error(TOO_MUCH);
    if (!isDrained && !this.#drained.has(nameOf(instance))) throw new Error(NOT_DRAINED);
    await this.#parts.share(instance, isDrained);
  }

  /**
   * Has the discovery service leave an instance out, or no longer. Resolves with what its processes
   * answer. Throws an Error when too much is drained, and the system's error when it cannot be
   * stored. Where nothing is shared it also throws when none of them takes orders, or what is not
   * drained is withdrawn.
   */
  drain(group: string, instance: Drained, isDrained: boolean): Promise<readonly ServiceAnswer[]> {
    const name = nameOf(instance);
    const isAlone = this.#parts.share === undefined;
    if (isDrained) {
      if (isAlone) this.#wantTaker(group);
      if (!this.#drained.has(name) && this.#drained.size >= MOST) throw new Error(TOO_MUCH);
      this.#drain(group, instance);
    } else if (!this.#undrain(group, name) && isAlone) throw new Error(NOT_DRAINED);
    this.#parts.store.write(this.drained);
    return this.#parts.answers.of({ group, name, withdrawn: !isDrained });
  }

  /**
   * Takes all that is drained from where the control planes share it. Throws the system's error
   * when it cannot be stored.
   */
  take(group: string, drained: readonly Drained[]): void {
    const all = drained.slice(0, MOST);
    const names = new Set(all.map(nameOf));
    for (const name of [...this.#drained.keys()]) if (!names.has(name)) this.#undrain(group, name);
    for (const each of all) if (!this.#drained.has(nameOf(each))) this.#drain(group, each);
    this.#parts.store.write(this.drained);
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

  /** Returns whether it was drained. */
  #undrain(group: string, name: string): boolean {
    this.#withdraw(group, name);
    return this.#drained.delete(name);
  }

  #give(group: string, name: string, order: JsonObject): void {
    const orders = this.#orders.get(group) ?? new Map<string, XdsResource>();
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
