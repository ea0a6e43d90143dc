import { encodeAny } from '#protos/encode.ts';
import { type Snapshot, snapshotOf, xdsResource } from '#xds/snapshot.ts';
import type { Instances } from './instance.ts';
import { loadAssignment } from './load-assignment.ts';

/** One ClusterLoadAssignment for each service, named as the service. */
export function instancesSnapshot(instances: Instances): Snapshot {
  const resources = [...instances].map(([service, members]) =>
    xdsResource(service, encodeAny(loadAssignment(service, members))),
  );
  return snapshotOf(resources);
}
