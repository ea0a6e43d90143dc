import type { Cluster } from '#kubernetes/cluster.ts';
import { type Following, follow } from '#kubernetes/follow.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import type { After } from '#process/after.ts';
import { EDGE_KINDS, type EdgeKind, edgeSelection } from './edge-collections.ts';

export type FollowEdgesOptions = {
  readonly cluster: Cluster;
  /** The namespaces of Gateways. Undefined means all. */
  readonly namespaces: readonly string[] | undefined;
  /** The name that the objects have in common. */
  readonly name: string;
  /** Called when any object or the trouble has changed, and when all have been read. */
  onChange(): void;
  /** Called with what cannot be read for now, once for each reason. */
  onTrouble(reason: string): void;
  readonly after: After;
  random(): number;
};

/** Without a namespace it is about all of them. */
type Trouble = { readonly why: string; readonly namespace: string | undefined };

/** The answers of the API where a right or a kind is missing. */
const MISSING: readonly (number | undefined)[] = [403, 404];

/** Follows the objects that were made for Gateways, whoever changes them. */
export class FollowedEdges {
  readonly #present = new Map<string, KubernetesObject>();
  readonly #unread = new Set<string>();
  /** By place: why it is unknown, and its namespace. */
  readonly #troubles = new Map<string, Trouble>();
  readonly #following: readonly Following[];

  constructor(options: FollowEdgesOptions) {
    const places = (options.namespaces ?? [undefined]).flatMap(namespace =>
      EDGE_KINDS.map(kind => ({ kind, namespace, place: `${kind}/${namespace ?? ''}` })),
    );
    for (const { place } of places) this.#unread.add(place);
    this.#following = places.map(each => this.#follow(each, options));
  }

  /** The objects by key. */
  get present(): ReadonlyMap<string, KubernetesObject> {
    return this.#present;
  }

  /** Whether all objects have been read. */
  get isComplete(): boolean {
    return this.#unread.size === 0;
  }

  /**
   * Returns why some of the objects in a namespace are unknown. Those that were read stay known
   * while the API is away. A right or a kind that is missing does not come back by itself.
   */
  troubleIn(namespace: string): string | undefined {
    const troubles = [...this.#troubles.values()];
    return troubles.find(each => (each.namespace ?? namespace) === namespace)?.why;
  }

  /** Takes what a write has answered, before the watch tells of it. */
  took(key: string, object: KubernetesObject): void {
    this.#present.set(key, object);
  }

  close(): void {
    for (const each of this.#following) each.close();
  }

  #follow(
    { kind, namespace, place }: { kind: EdgeKind; namespace: string | undefined; place: string },
    { name, onChange, onTrouble, ...options }: FollowEdgesOptions,
  ): Following {
    return follow<KubernetesObject>({
      ...options,
      ...edgeSelection(kind, name, namespace),
      read: object => object,
      onChange: (objects, changed) => {
        for (const key of changed) {
          const object = objects.get(key);
          if (object === undefined) this.#present.delete(`${kind}/${key}`);
          else this.#present.set(`${kind}/${key}`, object);
        }
        this.#unread.delete(place);
        onChange();
      },
      onTrouble: (error, repeated) => {
        if (!repeated) onTrouble(error.message);
        if (!this.#unread.has(place) && !MISSING.includes(error.status)) return;
        if (this.#troubles.get(place)?.why === error.message) return;
        this.#troubles.set(place, { why: error.message, namespace });
        onChange();
      },
      onWatching: () => {
        if (this.#troubles.delete(place)) onChange();
      },
    });
  }
}
