import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { type Snapshot, snapshotOf, type XdsResource, xdsResource } from '#xds/snapshot.ts';
import type { Compiled } from './compile/compiled.ts';

/**
 * Makes the bytes of compiled configurations. A JSON object that was encoded before is not encoded again: the compiler gives the
 * very same one for what did not change. The function throws EncodeError where the compiler made what Envoy's API does not have.
 */
export function snapshotEncoder(): (compiled: Compiled) => Snapshot {
  const known = new WeakMap<JsonObject, XdsResource>();
  const encoded = (name: string, json: JsonObject) => {
    const resource = known.get(json) ?? xdsResource(name, encodeAny(json));
    known.set(json, resource);
    return resource;
  };
  return ({ resources }) =>
    snapshotOf([...resources.values()].flat().map(({ name, json }) => encoded(name, json)));
}
