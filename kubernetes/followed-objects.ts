import { type KubernetesObject, objectKey } from './kubernetes-object.ts';
import type { Listed } from './list.ts';
import type { WatchEvent } from './watch.ts';

/**
 * What is known of a selection, the version that it is known at, and which keys have changed since
 * that was last asked.
 */
export class FollowedObjects<T> {
  /** Where a watch goes on; undefined: only a list can tell. */
  resourceVersion: string | undefined;
  readonly #read: (object: KubernetesObject) => T;
  readonly #values = new Map<string, T>();
  readonly #versions = new Map<string, string | undefined>();
  #changed = new Set<string>();

  constructor(read: (object: KubernetesObject) => T) {
    this.#read = read;
  }

  get values(): ReadonlyMap<string, T> {
    return this.#values;
  }

  /**
   * Takes a whole list: what it lacks is gone, and what has the version that is known has not
   * changed.
   */
  replace({ objects, resourceVersion }: Listed): void {
    const gone = new Set(this.#values.keys());
    for (const object of objects) {
      gone.delete(objectKey(object));
      this.#set(object);
    }
    for (const key of gone) this.#delete(key);
    this.resourceVersion = resourceVersion;
  }

  apply(event: WatchEvent): void {
    if (event.kind === 'bookmark') {
      this.resourceVersion = event.resourceVersion;
      return;
    }
    if (event.kind === 'changed') this.#set(event.object);
    else this.#delete(objectKey(event.object));
    this.resourceVersion = event.object.metadata.resourceVersion;
  }

  /** The keys that were added, modified or deleted since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  #set(object: KubernetesObject): void {
    const key = objectKey(object);
    const { resourceVersion } = object.metadata;
    if (this.#versions.has(key) && this.#versions.get(key) === resourceVersion) return;
    this.#versions.set(key, resourceVersion);
    this.#values.set(key, this.#read(withoutManagedFields(object)));
    this.#changed.add(key);
  }

  #delete(key: string): void {
    this.#versions.delete(key);
    if (this.#values.delete(key)) this.#changed.add(key);
  }
}

/** Who has set which field is often longer than the fields. */
function withoutManagedFields(object: KubernetesObject): KubernetesObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as KubernetesObject['metadata'] };
}
