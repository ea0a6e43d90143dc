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
  /** Returns whether the name has had an address since it is watched. */
  wasResolved(name: string): boolean;
};

type Entry = { addresses: readonly string[] | undefined; wasResolved: boolean; end: () => void };

/**
 * Opens an address book. `onChange` is called when the addresses of a followed name change, and
 * never from within `follow`.
 */
export function addressBook(watchName: WatchName, onChange: () => void): AddressBook {
  const entries = new Map<string, Entry>();
  const add = (name: string) => {
    const entry: Entry = { addresses: undefined, wasResolved: false, end: () => {} };
    entries.set(name, entry);
    entry.end = watchName(name, addresses => {
      entry.addresses = addresses;
      entry.wasResolved ||= addresses.length > 0;
      onChange();
    });
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
  };
  return {
    follow,
    addresses: name => entries.get(name)?.addresses,
    wasResolved: name => entries.get(name)?.wasResolved === true,
  };
}
