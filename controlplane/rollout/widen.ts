import { decodeAny } from '#protos/decode.ts';
import { encodeAny } from '#protos/encode.ts';
import { type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { NO_RESOURCES, type Snapshot, type XdsResource, xdsResource } from '#xds/snapshot.ts';

/** Of what was served `before` and what is `next`, what is to be served meanwhile. */
export type Widen = (before: Snapshot | undefined, next: Snapshot) => Snapshot;

/**
 * What a service is to have while proxies change over from what was served `before` to `next`:
 * besides `next` the limits whose pattern it has no more, so that neither the labels that proxies
 * send still nor those that they will send pass unlimited. They stand under names of their own. Of
 * other types it has `next` alone.
 */
export function widener(): Widen {
  // What is next now is what was before the next time.
  const decoded = new WeakMap<XdsResource, JsonObject>();
  const decode = (resource: XdsResource) => {
    const json = decoded.get(resource) ?? decodeAny(resource.any);
    decoded.set(resource, json);
    return json;
  };
  return (before, next) => widen(before, next, decode);
}

type Decode = (resource: XdsResource) => JsonObject;

function widen(before: Snapshot | undefined, next: Snapshot, decode: Decode): Snapshot {
  const older = before?.get(RATE_LIMIT) ?? NO_RESOURCES;
  const newer = next.get(RATE_LIMIT) ?? NO_RESOURCES;
  const left = [...older.values()].filter(
    ({ name, version }) => newer.get(name)?.version !== version,
  );
  if (left.length === 0) return next;
  // A pattern that moved to another resource is in one that changed.
  const changed = [...newer.values()].filter(
    ({ name, version }) => older.get(name)?.version !== version,
  );
  const patterns = new Set(changed.flatMap(resource => limitsOf(decode(resource))).map(patternOf));
  const kept = left.flatMap(resource =>
    keepLimits(resource, decode(resource), limit => !patterns.has(patternOf(limit))),
  );
  if (kept.length === 0) return next;
  return new Map([
    ...next,
    [RATE_LIMIT, new Map([...newer, ...kept.map(each => [each.name, each] as const)])],
  ]);
}

/** Whether a resource has this name because it is kept. */
export function isKept(name: string): boolean {
  return name.includes('~');
}

type Limit = { readonly domain: Json | undefined; readonly limit: JsonObject };

function keepLimits(
  resource: XdsResource,
  json: JsonObject,
  keep: (limit: Limit) => boolean,
): readonly XdsResource[] {
  const limits = limitsOf(json).filter(keep);
  if (limits.length === 0) return [];
  const any = encodeAny({ ...json, limits: limits.map(({ limit }) => limit) });
  // No name of the operator's has a `~`; what is kept a second time keeps its name.
  const name = isKept(resource.name) ? resource.name : `${resource.name}~${resource.version}`;
  return [xdsResource(name, any)];
}

function limitsOf({ domain, limits }: JsonObject): readonly Limit[] {
  return objectsIn(limits).map(limit => ({ domain, limit }));
}

function patternOf({ domain, limit }: Limit): string {
  return JSON.stringify([domain, limit.pattern]);
}
