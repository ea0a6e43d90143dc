import { createHash } from 'node:crypto';
import { type Any, encodeAny } from '#protos/encode.ts';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { changedKeys, PersistentMap } from '#xds/persistent-map.ts';
import { type Snapshot, setResourcesVersion, type XdsResource } from '#xds/snapshot.ts';
import { emptyAssignment } from '#xds/type-rules.ts';
import type { Instance, Instances } from './instance.ts';
import { instancesNamed, NO_SUCH_PORT } from './instances-named.ts';
import { loadAssignment, uniqueInstances } from './load-assignment.ts';

/**
 * Returns a snapshot with one ClusterLoadAssignment for each service, named as the service.
 * An assignment is encoded when a proxy asks for it. Most services have several names, of which
 * mostly one is in use. Services whose array is unchanged are taken from an earlier snapshot,
 * `before`. A name with another port is answered as instancesNamed says. `onMissed` is called
 * each time that a client asks for a name or port that no instance has.
 */
export function instancesSnapshot(
  instances: Instances,
  onMissed?: (name: string) => void,
  before?: Snapshot,
): Snapshot {
  const known = before?.get(CLUSTER_LOAD_ASSIGNMENT);
  const listed = nextListed(
    known instanceof Assignments ? known.listed : NOTHING_LISTED,
    instances,
  );
  const resources = new Assignments(listed, onMissed);
  setResourcesVersion(resources, hex(listed.high) + hex(listed.low));
  return new Map([[CLUSTER_LOAD_ASSIGNMENT, resources]]);
}

/**
 * The assignments of these instances, and the two halves of their version. Each half is a sum of
 * hashes in any order, so none needs to be hashed or sorted again.
 */
type Listed = {
  readonly instances: Instances;
  readonly assignments: PersistentMap<Assignment>;
  readonly high: number;
  readonly low: number;
};

const NOTHING_LISTED: Listed = {
  instances: new Map(),
  assignments: new PersistentMap(),
  high: 0,
  low: 0,
};

function nextListed(before: Listed, instances: Instances): Listed {
  let { high, low } = before;
  const changes = changedKeys(before.instances, instances).map(name => {
    const assignment = assignmentOf(name, instances.get(name));
    for (const each of [before.assignments.get(name), assignment]) {
      high ^= Number.parseInt(each?.version.slice(0, 8) ?? '0', 16);
      low ^= Number.parseInt(each?.version.slice(8) ?? '0', 16);
    }
    return [name, assignment] as const;
  });
  return { instances, assignments: before.assignments.with(changes), high, low };
}

/**
 * Lists the plain names. Names with another port are made on demand, because there are too many of
 * them to list or to keep.
 */
class Assignments extends PersistentMap<Assignment> {
  readonly listed: Listed;
  readonly #onMissed: ((name: string) => void) | undefined;

  constructor(listed: Listed, onMissed: ((name: string) => void) | undefined) {
    super(listed.assignments.shards);
    this.listed = listed;
    this.#onMissed = onMissed;
  }

  override get(name: string): Assignment | undefined {
    return super.get(name) ?? this.#otherPort(name);
  }

  #otherPort(name: string): Assignment | undefined {
    const members = instancesNamed(this.listed.instances, name);
    if (members === undefined || members === NO_SUCH_PORT) this.#onMissed?.(name);
    // A client may ask for thousands of such names, so none has a hash of its own.
    return members && new Assignment(name, members, contentOf(members));
  }
}

function assignmentOf(
  name: string,
  members: readonly Instance[] | undefined,
): Assignment | undefined {
  return members === undefined || members === NO_SUCH_PORT
    ? undefined
    : new Assignment(name, members, hashOf(`${name}\0${contentOf(members)}`));
}

/** By array, which never changes. Several names may share one. */
const contents = new WeakMap<readonly Instance[], string>();

function contentOf(members: readonly Instance[]): string {
  const content = contents.get(members) ?? hashOf(JSON.stringify(uniqueInstances(members)));
  contents.set(members, content);
  return content;
}

/** In their encoded form, by array as above. To encode them costs far more than to copy them. */
const encoded = new WeakMap<readonly Instance[], Uint8Array>();

function endpointsOf(members: readonly Instance[]): Uint8Array {
  const known = encoded.get(members);
  if (known !== undefined) return known;
  const { value } = encodeAny(loadAssignment('x', members));
  const endpoints = value.subarray(emptyAssignment('x').any.value.length);
  encoded.set(members, endpoints);
  return endpoints;
}

class Assignment implements XdsResource {
  readonly name: string;
  readonly version: string;
  readonly #members: readonly Instance[];
  #any: Any | undefined;

  constructor(name: string, members: readonly Instance[], version: string) {
    this.name = name;
    this.version = version;
    this.#members = members;
  }

  get any(): Any {
    this.#any ??= this.#encode();
    return this.#any;
  }

  /** The name is the first field. */
  #encode(): Any {
    const { type_url, value } = emptyAssignment(this.name).any;
    return { type_url, value: Buffer.concat([value, endpointsOf(this.#members)]) };
  }
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
