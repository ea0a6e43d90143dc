import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { type Snapshot, snapshotOf, xdsResource } from '#xds/snapshot.ts';

/** One compiled resource: its name and its message in proto3 JSON, with `@type`. */
export type Compiled = { readonly name: string; readonly json: JsonObject };

/** The bytes of compiled resources. Throws EncodeError where the compiler made what Envoy's API does not have. */
export function toSnapshot(compiled: Iterable<Compiled>): Snapshot {
  return snapshotOf([...compiled].map(({ name, json }) => xdsResource(name, encodeAny(json))));
}
