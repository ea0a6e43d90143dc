import { changedKeys } from '#xds/persistent-map.ts';
import type { Instance, Instances } from './instance.ts';
import { NO_SUCH_PORT } from './instances-named.ts';

/** What has changed for one service. Instances are written `address:port`. */
export type InstanceChange = {
  readonly service: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** How many there are now. */
  readonly instances: number;
};

/**
 * Returns one log entry for each service that has changed, for operators who watch instances come
 * and go. Names that share an array share one entry.
 */
export function instanceChanges(before: Instances, after: Instances): readonly InstanceChange[] {
  const services = changedKeys(before, after).toSorted();
  const told = new Set<readonly Instance[] | undefined>([undefined, NO_SUCH_PORT]);
  return services.flatMap(service => {
    const arrays = [before.get(service), after.get(service)];
    if (arrays.every(array => told.has(array))) return [];
    for (const array of arrays) told.add(array);
    const old = addresses(before.get(service));
    const now = addresses(after.get(service));
    const added = [...now.difference(old)];
    const removed = [...old.difference(now)];
    const same =
      added.length === 0 && removed.length === 0 && before.has(service) === after.has(service);
    return same ? [] : [{ service, added, removed, instances: now.size }];
  });
}

function addresses(instances: readonly Instance[] = []): ReadonlySet<string> {
  return new Set(
    instances.map(({ address, port }) =>
      address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
    ),
  );
}
