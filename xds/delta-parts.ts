import type { DeltaResource } from './discovery.ts';
import { changedKeys, PersistentMap } from './persistent-map.ts';
import { ABSENT } from './refusals.ts';
import { remembered } from './remembered.ts';
import type { Resources, XdsResource } from './snapshot.ts';
import { rulesOf } from './type-rules.ts';

/** Largest size of a response, in bytes. Many gRPC clients reject messages above 4 MiB. */
export const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

/** What one response says. */
export type DeltaPart = {
  readonly resources: readonly DeltaResource[];
  readonly removed: readonly string[];
  /** What the client holds of these names then. */
  readonly told: ReadonlyMap<string, string | typeof ABSENT>;
};

/** Returns the names that one of the two has, or that differ in them. */
export const changedNames = remembered((from: Resources, to: Resources): readonly string[] => {
  if (from === to) return [];
  if (from instanceof PersistentMap && to instanceof PersistentMap) return changedKeys(from, to);
  const gone: string[] = [];
  for (const name of from.keys()) if (!to.has(name)) gone.push(name);
  const changed: string[] = [];
  for (const [name, resource] of to) {
    const held = from.get(name);
    if (held !== resource && held?.version !== resource.version) changed.push(name);
  }
  return [...gone, ...changed];
});

/**
 * Returns what a client that holds all of `from`, and nothing else, has to be told so that it holds
 * all of `to`. All streams share it, and so its encoded form.
 */
export const deltaParts = remembered((from: Resources, to: Resources): readonly DeltaPart[] => {
  const changes = changedNames(from, to).flatMap(name => {
    const change = to.get(name) ?? ABSENT;
    const isNews = change === ABSENT || change.version !== from.get(name)?.version;
    return isNews ? [[name, change] as const] : [];
  });
  return cutIntoParts(changes);
});

/** Returns the form of a resource in a response. It is the same object for each stream. */
export const deltaResource = remembered(
  ({ name, version, any, ttlMs }: XdsResource): DeltaResource => ({
    ...{ name, version, resource: any },
    ...(ttlMs === undefined ? {} : { ttlMs }),
  }),
);

/** Collects what one response says, up to its size. */
export class PartBuilder {
  readonly #resources: DeltaResource[] = [];
  readonly #removed: string[] = [];
  readonly #told = new Map<string, string | typeof ABSENT>();
  #bytes = 0;

  /** Adds a change. Returns false, and adds nothing, when the response has no room for it. */
  add(name: string, change: XdsResource | typeof ABSENT): boolean {
    const bytes =
      name.length + (change === ABSENT ? 0 : change.any.value.length + change.any.type_url.length);
    const isPart = change !== ABSENT && rulesOf(change.any.type_url).partsOf !== undefined;
    const isFull = this.#bytes + bytes > MAX_RESPONSE_BYTES && this.#told.size > 0;
    if (isFull && !isPart) return false;
    this.#bytes += bytes;
    this.#told.set(name, change === ABSENT ? ABSENT : change.version);
    if (change === ABSENT) this.#removed.push(name);
    else this.#resources.push(deltaResource(change));
    return true;
  }

  get part(): DeltaPart {
    const [only, ...others] = this.#resources;
    const isOne = only !== undefined && others.length === 0 && this.#removed.length === 0;
    const lists = isOne
      ? oneResource(only)
      : { resources: this.#resources, removed: this.#removed };
    return { ...lists, told: this.#told };
  }
}

/** Streams that ask for names of their own are mostly sent one resource, and share its lists. */
const oneResource = remembered((resource: DeltaResource) => ({
  resources: [resource],
  removed: [],
}));

function cutIntoParts(
  changes: readonly (readonly [name: string, change: XdsResource | typeof ABSENT])[],
): readonly DeltaPart[] {
  let builder = new PartBuilder();
  const builders: PartBuilder[] = [];
  for (const [name, change] of changes) {
    if (!builder.add(name, change)) {
      builder = new PartBuilder();
      builder.add(name, change);
    }
    if (builders.at(-1) !== builder) builders.push(builder);
  }
  return builders.map(({ part }) => part);
}
