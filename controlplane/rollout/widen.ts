import { decodeAny } from '#protos/decode.ts';
import { encodeAny } from '#protos/encode.ts';
import { type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { NO_RESOURCES, type Snapshot, type XdsResource, xdsResource } from '#xds/snapshot.ts';

/** Combines what was served `before` with what is `next`, for the time between. */
type Widen = (before: Snapshot | undefined, next: Snapshot) => Snapshot;

/**
 * Returns what the rate limit service has while proxies change over from `before` to `next`. It
 * adds to `next` the limits whose pattern is no longer in it, under names of their own. So neither
 * the labels that proxies still send nor the next ones pass unlimited.
 */
export function widener(): Widen {
  // `next` is `before` the next time.
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
  // The pattern of a limit that moved to another resource is in one that changed.
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
function isKept(name: string): boolean {
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
  // Operators' names have no `~`. A resource that is kept a second time keeps its name.
  const name = isKept(resource.name) ? resource.name : `${resource.name}~${resource.version}`;
  return [xdsResource(name, any)];
}

function limitsOf({ domain, limits }: JsonObject): readonly Limit[] {
  return objectsIn(limits).map(limit => ({ domain, limit }));
}

function patternOf({ domain, limit }: Limit): string {
  return JSON.stringify([domain, limit.pattern]);
}
