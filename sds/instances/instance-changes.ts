import type { Instance, Instances } from './instance.ts';

/** What became different for one service. Instances are written `address:port`. */
export type InstanceChange = {
  readonly service: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** How many there are now. */
  readonly instances: number;
};

/** What an operator wants to read when instances come and go: one entry for each service that has changed. */
export function instanceChanges(before: Instances, after: Instances): readonly InstanceChange[] {
  const services = [...new Set([...before.keys(), ...after.keys()])].sort();
  return services.flatMap(service => {
    const old = addresses(before.get(service));
    const now = addresses(after.get(service));
    const added = [...now.difference(old)];
    const removed = [...old.difference(now)];
    const same = added.length === 0 && removed.length === 0 && before.has(service) === after.has(service);
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
