import { type Following, type FollowOptions, follow } from '#kubernetes/follow.ts';
import type { Resource } from '#kubernetes/resource.ts';
import { describeResource } from '#kubernetes/resource.ts';
import type { Parser } from '#resources/parse/parse.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import { type ObjectParser, objectParser } from './object-parser.ts';
import { type ServedObject, toServedObject } from './served-object.ts';

export type CollectionOptions = Pick<
  FollowOptions<unknown>,
  'cluster' | 'after' | 'random' | 'fieldSelector'
> & {
  readonly resource: Resource;
  readonly parser: Parser;
  /** The content of the objects has changed, or the trouble has. */
  onContent(): void;
  /** Only the status of the objects has changed. */
  onStatus(): void;
};

/**
 * Follows the objects of one kind until `close`. They are those of one namespace or of all, or a
 * single one by name.
 */
export class Collection {
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly #following: Following;
  readonly #parsed = new Map<string, ParsedFile>();
  #objects: ReadonlyMap<string, ServedObject> | undefined;
  #trouble: string | undefined;
  #rejected = false;
  #forbidden = false;

  constructor(options: CollectionOptions) {
    const { resource, cluster, after, random, fieldSelector, onContent } = options;
    this.namespace = resource.namespace;
    const parser = objectParser(placeOf(resource), options.parser);
    this.#following = follow<ServedObject>({
      cluster,
      resource,
      after,
      random,
      fieldSelector,
      read: object => toServedObject(object, resource, parser.parse),
      onChange: (objects, changed) => {
        const first = this.#objects === undefined;
        this.#objects = objects;
        if (this.#takeContent(changed, objects, parser) || first) onContent();
        else options.onStatus();
      },
      onTrouble: error => {
        this.#forbidden = error.status === 403;
        this.#rejected = this.#forbidden || error.status === 404;
        this.#setTrouble(error.message, onContent);
      },
      onWatching: () => {
        this.#forbidden = false;
        this.#setTrouble(undefined, onContent);
      },
    });
  }

  /** Undefined until they were read. */
  get objects(): Iterable<ServedObject> | undefined {
    return this.#objects?.values();
  }

  /** Why it cannot be followed now. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Whether they are read, and nothing of them is missed. */
  get isFollowed(): boolean {
    return this.#objects !== undefined && this.#trouble === undefined;
  }

  /** Whether they were read, and may not be read any more. */
  get isWithdrawn(): boolean {
    return this.#objects !== undefined && this.#forbidden;
  }

  /** Whether they were read, or the API has refused to give them. */
  get answered(): boolean {
    return this.#objects !== undefined || this.#rejected;
  }

  close(): void {
    this.#following.close();
  }

  /** Whether the content of any of these has changed. */
  #takeContent(
    changed: ReadonlySet<string>,
    objects: ReadonlyMap<string, ServedObject>,
    parser: ObjectParser,
  ): boolean {
    let different = false;
    for (const key of changed) {
      const parsed = objects.get(key)?.parsed;
      different ||= parsed !== this.#parsed.get(key);
      if (parsed === undefined) {
        this.#parsed.delete(key);
        parser.forget(key);
      } else this.#parsed.set(key, parsed);
    }
    return different;
  }

  #setTrouble(trouble: string | undefined, onContent: () => void): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    onContent();
  }
}

/** Formats a collection as Problems name it: `Kubernetes mappings.gateway.internal`. */
function placeOf({ group, version, plural }: Resource): string {
  return `Kubernetes ${describeResource({ group, version, plural })}`;
}
