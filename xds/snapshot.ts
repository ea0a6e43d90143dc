import { createHash, createHmac } from 'node:crypto';
import type { Any } from '#protos/encode.ts';

/**
 * One resource as it goes on the wire. `version` is a hash of its content, so equal content has an
 * equal version.
 */
export type XdsResource = {
  readonly name: string;
  readonly version: string;
  readonly any: Any;
  /** How long a proxy may need before it can use it and ACKs it, in ms. Default: no time. */
  readonly warmUpMs?: number;
  /** A proxy that is told nothing of it for so long, in ms, drops it. Default: it stays. */
  readonly ttlMs?: number;
};

/** The resources of one type by name. */
export type Resources = ReadonlyMap<string, XdsResource>;

/**
 * Everything that one node group is served. Maps type URL to resources. A missing type has no
 * resources.
 */
export type Snapshot = ReadonlyMap<string, Resources>;

export const NO_RESOURCES: Resources = new Map();

/**
 * Returns a resource whose version is a hash of its content. Two control planes that compile the
 * same configuration agree on it. With a `key` only holders of the key agree. So a client that sees
 * a version cannot test guesses of the secret behind it.
 */
export function xdsResource(name: string, any: Any, key?: Uint8Array): XdsResource {
  const hash = key === undefined ? createHash('sha256') : createHmac('sha256', key);
  hash.update(any.type_url).update('\0').update(any.value);
  return { name, version: hash.digest('hex').slice(0, 16), any };
}

/**
 * Returns a snapshot of these resources, each under its own type URL. Of two with one type and name
 * the later wins.
 */
export function snapshotOf(resources: Iterable<XdsResource>): Snapshot {
  const snapshot = new Map<string, Map<string, XdsResource>>();
  for (const resource of resources) {
    const ofType = snapshot.get(resource.any.type_url) ?? new Map<string, XdsResource>();
    snapshot.set(resource.any.type_url, ofType.set(resource.name, resource));
  }
  return snapshot;
}

/**
 * Returns the version of one type's resources. It is a hash of their names and versions, in any
 * order.
 */
export function resourcesVersion(resources: Resources): string {
  const known = versions.get(resources);
  if (known !== undefined) return known;
  const version = versionOf(new Map([...resources].map(([name, { version }]) => [name, version])));
  versions.set(resources, version);
  return version;
}

/**
 * Sets what `resourcesVersion` returns. Code that changes a few of many resources may know the
 * version without a look at all of them.
 */
export function setResourcesVersion(resources: Resources, version: string): void {
  versions.set(resources, version);
}

/** Returns a hash of names and versions, in any order. */
export function versionOf(versions: ReadonlyMap<string, string>): string {
  const names = [...versions.keys()].sort();
  // One update with one text costs a fraction of one for each of thousands of names.
  const text = names.map(name => `${name}\0${versions.get(name)}\0`).join('');
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * Returns the same snapshot, with the very objects of `before` for types in which nothing changed.
 * So their versions and differences need not be computed again.
 */
export function reusing(before: Snapshot | undefined, snapshot: Snapshot): Snapshot {
  return new Map(
    [...snapshot].map(([typeUrl, resources]) => {
      const last = before?.get(typeUrl);
      return [typeUrl, last !== undefined && isSame(last, resources) ? last : resources];
    }),
  );
}

function isSame(a: Resources, b: Resources): boolean {
  if (a.size !== b.size) return false;
  for (const [name, { version }] of a) if (b.get(name)?.version !== version) return false;
  return true;
}

/** Many streams ask for the version of the same resources, which never change. */
const versions = new WeakMap<Resources, string>();

/**
 * Returns the version of a whole snapshot, a hash of its types' versions. A type without resources
 * counts as missing.
 */
export function snapshotVersion(snapshot: Snapshot): string {
  const hash = createHash('sha256');
  for (const typeUrl of [...snapshot.keys()].sort()) {
    const resources = snapshot.get(typeUrl) ?? NO_RESOURCES;
    if (resources.size > 0) hash.update(`${typeUrl}\0${resourcesVersion(resources)}\0`);
  }
  return hash.digest('hex').slice(0, 16);
}
