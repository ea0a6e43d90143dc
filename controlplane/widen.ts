import { RATE_LIMIT } from '#protos/type-url.ts';
import { NO_RESOURCES, type Snapshot, type XdsResource } from '#xds/snapshot.ts';

/**
 * What a service is to have while proxies change over from what was served `before` to `next`: the limits of both, so that neither the labels that
 * proxies send still nor those that they will send pass unlimited. An older version of a limit stands beside the newer one, under another name; where
 * both apply, the stricter decides. Of other types it has `next` alone.
 */
export function widen(before: Snapshot | undefined, next: Snapshot): Snapshot {
  const limits = next.get(RATE_LIMIT) ?? NO_RESOURCES;
  const older = [...(before?.get(RATE_LIMIT)?.values() ?? [])].filter(
    ({ name, version }) => limits.get(name)?.version !== version,
  );
  if (older.length === 0) return next;
  const both = [...limits.values(), ...older.map(rename)];
  return new Map([...next, [RATE_LIMIT, new Map(both.map(resource => [resource.name, resource]))]]);
}

/** No name of the operator's has a `~`. */
function rename(resource: XdsResource): XdsResource {
  if (resource.name.includes('~')) return resource;
  return { ...resource, name: `${resource.name}~${resource.version}` };
}
