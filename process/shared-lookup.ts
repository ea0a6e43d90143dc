import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

const pending = new Map<string, Promise<readonly LookupAddress[]>>();

/**
 * Looks up a name as the system does. Connections to one name share one lookup while it goes on.
 * Node looks up two names at a time, and one whose DNS server is silent takes the system 10 to 40
 * s, however soon the request gives up. Many requests of one provider would make the names of all
 * others wait.
 */
export const sharedLookup: LookupFunction = (hostname, options, callback) => {
  const { all, ...rest } = options;
  const key = JSON.stringify([hostname, rest.family, rest.hints]);
  const found =
    pending.get(key) ?? lookup(hostname, { ...rest, all: true }).finally(() => pending.delete(key));
  pending.set(key, found);
  found.then(
    addresses => {
      const [{ address, family } = { address: '', family: 0 }] = addresses;
      if (all === true) callback(null, [...addresses]);
      else callback(null, address, family);
    },
    (error: NodeJS.ErrnoException) => callback(error, ''),
  );
};
