import { encodeAny } from '#protos/encode.ts';
import { type Snapshot, snapshotOf, xdsResource } from '#xds/snapshot.ts';
import type { Compiled } from './compile/compiled.ts';

/** The bytes of a compiled configuration. Throws EncodeError where the compiler made what Envoy's API does not have. */
export function toSnapshot({ resources }: Compiled): Snapshot {
  const all = [...resources.values()].flat();
  return snapshotOf(all.map(({ name, json }) => xdsResource(name, encodeAny(json))));
}
