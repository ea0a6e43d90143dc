import { type KubernetesObject, objectKey } from './kubernetes-object.ts';
import type { Listed } from './list.ts';
import type { WatchEvent } from './watch.ts';

/**
 * Holds what is known of a selection, at which version, and which keys have changed since they were
 * last taken.
 */
export class FollowedObjects<T> {
  /** Where a watch goes on. Undefined when a new list is needed. */
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

  /** Takes a complete list. What it lacks is deleted. What has the known version is unchanged. */
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

  /** Returns the keys that were added, modified or deleted since the last call. */
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

/** The list of managed fields is often longer than the fields themselves. */
function withoutManagedFields(object: KubernetesObject): KubernetesObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as KubernetesObject['metadata'] };
}
