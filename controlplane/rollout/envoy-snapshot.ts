import type { Compiled, CompiledResource } from '#controlplane/compile/compiled.ts';
import { type Any, encodeAny } from '#protos/encode.ts';
import { type JsonObject, objectsIn } from '#protos/json.ts';
import { FILTER, SERVED_SECRET } from '#protos/type-url.ts';
import { remembered } from '#xds/remembered.ts';
import { type Resources, type Snapshot, type XdsResource, xdsResource } from '#xds/snapshot.ts';

/**
 * Returns the function that encodes compiled configurations. It reuses the bytes of a JSON object
 * that it has encoded before. The compiler returns the very same object for what did not change.
 * The function throws EncodeError where the compiler's output does not fit Envoy's API. Versions of
 * what holds secrets are made with `versionKey`, 32 random bytes of this process.
 */
export function snapshotEncoder(versionKey: Uint8Array): (compiled: Compiled) => Snapshot {
  const known = new WeakMap<JsonObject, XdsResource>();
  const encoded = (name: string, json: JsonObject) => {
    const resource = known.get(json) ?? {
      ...warmUp(json),
      ...resourceOf(name, encodeAny(json), versionKey),
    };
    known.set(json, resource);
    return resource;
  };
  const ofType = remembered(
    (list: readonly CompiledResource[]): Resources =>
      new Map(list.map(({ name, json }) => [name, encoded(name, json)])),
  );
  return ({ resources }) => {
    const listed = [...resources].filter(([, list]) => list.length > 0);
    return new Map(listed.map(([type, list]) => [type, ofType(list)]));
  };
}

/** A cluster can be used when the first check of each member has ended. */
function warmUp(json: JsonObject): Pick<XdsResource, 'warmUpMs'> {
  const [check] = objectsIn(json.health_checks);
  return check === undefined ? {} : { warmUpMs: 1000 * Number.parseFloat(String(check.timeout)) };
}

const HOLD_SECRETS: ReadonlySet<string> = new Set([FILTER, SERVED_SECRET]);

function resourceOf(name: string, any: Any, versionKey: Uint8Array): XdsResource {
  return xdsResource(name, any, HOLD_SECRETS.has(any.type_url) ? versionKey : undefined);
}
