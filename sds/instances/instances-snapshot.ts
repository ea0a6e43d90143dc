import { encodeAny } from '#protos/encode.ts';
import { type Snapshot, snapshotOf, type XdsResource, xdsResource } from '#xds/snapshot.ts';
import type { Instance, Instances } from './instance.ts';
import { loadAssignment } from './load-assignment.ts';

/** One ClusterLoadAssignment for each service, named as the service. Of a service whose array is the same as before nothing is made anew. */
export function instancesSnapshot(instances: Instances): Snapshot {
  return snapshotOf([...instances].map(([service, members]) => resourceOf(service, members)));
}

function resourceOf(service: string, members: readonly Instance[]): XdsResource {
  const made = resources.get(members) ?? new Map<string, XdsResource>();
  const resource = made.get(service) ?? xdsResource(service, encodeAny(loadAssignment(service, members)));
  resources.set(members, made.set(service, resource));
  return resource;
}

/** By array, which never changes, and by name: several names may share one. */
const resources = new WeakMap<readonly Instance[], Map<string, XdsResource>>();
