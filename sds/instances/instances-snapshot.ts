import { createHash } from 'node:crypto';
import { type Any, encodeAny } from '#protos/encode.ts';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { type Snapshot, setResourcesVersion, type XdsResource } from '#xds/snapshot.ts';
import type { Instance, Instances } from './instance.ts';
import { instancesNamed, NO_SUCH_PORT } from './instances-named.ts';
import { loadAssignment, uniqueInstances } from './load-assignment.ts';

/**
 * One ClusterLoadAssignment for each service, named as the service. Of a service whose array is the same as before nothing is made anew, and
 * it is encoded when a proxy asks for it: most have several names, of which mostly one is in use. A name with another port is answered as instancesNamed
 * says; `onNoSuchPort` hears each time that one is asked for that no instance has.
 */
export function instancesSnapshot(instances: Instances, onNoSuchPort?: (name: string) => void): Snapshot {
  const resources = new Assignments(instances, onNoSuchPort);
  let [high, low] = [0, 0];
  for (const [service, members] of instances) {
    if (members === NO_SUCH_PORT) continue;
    const resource = resourceOf(service, members);
    resources.set(service, resource);
    high ^= resource.high;
    low ^= resource.low;
  }
  if (resources.size === 0) return new Map();
  // Hashes in whatever order, so that none needs to be hashed or sorted again.
  setResourcesVersion(resources, hex(high) + hex(low));
  return new Map([[CLUSTER_LOAD_ASSIGNMENT, resources]]);
}

/** The names that are listed, and on demand those with another port: there are too many of them to list, or to keep. */
class Assignments extends Map<string, XdsResource> {
  readonly #instances: Instances;
  readonly #onNoSuchPort: ((name: string) => void) | undefined;

  constructor(instances: Instances, onNoSuchPort: ((name: string) => void) | undefined) {
    super();
    this.#instances = instances;
    this.#onNoSuchPort = onNoSuchPort;
  }

  override get(name: string): XdsResource | undefined {
    return super.get(name) ?? this.#otherPort(name);
  }

  #otherPort(name: string): XdsResource | undefined {
    const members = instancesNamed(this.#instances, name);
    if (members === undefined) return undefined;
    if (members === NO_SUCH_PORT) this.#onNoSuchPort?.(name);
    return new Assignment(name, members, contentOf(members));
  }
}

type Made = { readonly content: string; readonly byName: Map<string, Assignment> };

/** By array, which never changes: several names may share one. */
const made = new WeakMap<readonly Instance[], Made>();

function resourceOf(service: string, members: readonly Instance[]): Assignment {
  const known = made.get(members) ?? { content: contentOf(members), byName: new Map<string, Assignment>() };
  const found = known.byName.get(service);
  if (found !== undefined) return found;
  const resource = new Assignment(service, members, known.content);
  made.set(members, known);
  known.byName.set(service, resource);
  return resource;
}

function contentOf(members: readonly Instance[]): string {
  return made.get(members)?.content ?? hashOf(JSON.stringify(uniqueInstances(members)));
}

class Assignment implements XdsResource {
  readonly name: string;
  readonly version: string;
  /** The two halves of the version. */
  readonly high: number;
  readonly low: number;
  readonly #members: readonly Instance[];
  #any: Any | undefined;

  constructor(name: string, members: readonly Instance[], content: string) {
    this.name = name;
    this.version = hashOf(`${name}\0${content}`);
    this.high = Number.parseInt(this.version.slice(0, 8), 16);
    this.low = Number.parseInt(this.version.slice(8), 16);
    this.#members = members;
  }

  get any(): Any {
    this.#any ??= encodeAny(loadAssignment(this.name, this.#members));
    return this.#any;
  }
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
