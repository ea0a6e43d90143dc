import type { WatchName } from './watch-dns.ts';

/** The addresses of a changing set of DNS names. */
export type AddressBook = {
  /** Watches exactly these names from now on. */
  follow(names: ReadonlySet<string>): void;
  /**
   * Returns the addresses of a name.
   * @returns undefined until the name was queried
   */
  addresses(name: string): readonly string[] | undefined;
  /** Returns whether the name has had an address since it is watched, or was known to have one. */
  wasResolved(name: string): boolean;
  /** Returns the addresses of all names. */
  all(): Addresses;
};

/** The addresses of DNS names. */
export type Addresses = ReadonlyMap<string, readonly string[]>;

type Entry = {
  /** From before a restart. */
  readonly before: readonly string[];
  addresses: readonly string[] | undefined;
  wasResolved: boolean;
  end: () => void;
};

/**
 * Opens an address book. `onChange` is called when the addresses of a followed name change, and
 * never from within `follow`. `known` are addresses from before a restart, of names that are
 * followed first.
 */
export function addressBook(
  watchName: WatchName,
  onChange: () => void,
  known: Addresses = new Map(),
): AddressBook {
  const entries = new Map<string, Entry>();
  let earlier = known;
  const add = (name: string) => {
    const before = earlier.get(name) ?? [];
    const wasResolved = before.length > 0;
    const entry: Entry = { before, addresses: undefined, wasResolved, end: () => {} };
    entries.set(name, entry);
    const take = (addresses: readonly string[]) => {
      entry.addresses = addresses;
      entry.wasResolved ||= addresses.length > 0;
      onChange();
    };
    entry.end = watchName(name, take, before);
  };
  const follow = (names: ReadonlySet<string>) => {
    for (const [name, entry] of entries) {
      if (names.has(name)) continue;
      entry.end();
      entries.delete(name);
    }
    for (const name of names) {
      if (!entries.has(name)) add(name);
    }
    earlier = new Map();
  };
  return {
    follow,
    addresses: name => entries.get(name)?.addresses,
    wasResolved: name => entries.get(name)?.wasResolved === true,
    all: () =>
      new Map([...entries].map(([name, { addresses, before }]) => [name, addresses ?? before])),
  };
}
