import { canonicalAddress } from '#resources/words/ip-address.ts';
import { PersistentMap } from '#xds/persistent-map.ts';
import type { Instance, Instances } from './instance.ts';
import type { InstanceSource } from './instance-source.ts';

/** An address that no proxy gets. */
export type DrainedAddress = Pick<Instance, 'address' | 'port'>;

export type DrainedSource = InstanceSource & {
  /** Leaves out the instances at these addresses from now on, and no others. */
  drain(addresses: readonly DrainedAddress[]): void;
  isDrained(address: DrainedAddress): boolean;
  /**
   * Returns all instances, the drained ones too.
   * @returns undefined until they are known
   */
  all(): Instances | undefined;
};

/** Leaves out instances that an operator has drained. */
export function drainedSource(source: InstanceSource): DrainedSource {
  let drained: ReadonlySet<string> = new Set();
  let all: Instances | undefined;
  let changed = () => {};
  return {
    drain(addresses) {
      drained = new Set(addresses.map(each => keyOf(spelt(each))));
      changed();
    },
    isDrained: address => drained.has(keyOf(address)),
    all: () => all,
    watch(onChange) {
      changed = () => {
        if (all !== undefined) onChange(without(all, drained));
      };
      return source.watch(instances => {
        all = instances;
        changed();
      });
    },
  };
}

/** Returns the others. A service that has none of them keeps its array. */
function without(all: Instances, drained: ReadonlySet<string>): Instances {
  if (drained.size === 0) return all;
  const isServed = (instance: Instance) => !drained.has(keyOf(instance));
  const fewer = [...all].filter(([, members]) => !members.every(isServed));
  const base =
    all instanceof PersistentMap ? all : new PersistentMap<readonly Instance[]>().with([...all]);
  return base.with(fewer.map(([name, members]) => [name, members.filter(isServed)]));
}

/** An order, or what was kept of it, may spell an address otherwise. */
function spelt({ address, port }: DrainedAddress): DrainedAddress {
  return { address: canonicalAddress(address) ?? address, port };
}

function keyOf({ address, port }: DrainedAddress): string {
  return `${address} ${port}`;
}
