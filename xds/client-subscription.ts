import { type DeltaDiscoveryResponse, type Node, WILDCARD } from './discovery.ts';
import { versionOf, type XdsResource } from './snapshot.ts';

/** A change of the resources of one type. It is answered once; later answers do nothing. */
export type Update = {
  readonly typeUrl: string;
  readonly changed: readonly XdsResource[];
  readonly removed: readonly string[];
  /**
   * With this change the client has all that the server has of the type. False while a large change
   * comes in parts: whoever must not act on a part of it waits for the last one.
   */
  readonly complete: boolean;
  /** It is in force. */
  ack(): void;
  /**
   * It is refused as a whole, what was ACKed before stays in force; `message` reaches the operator.
   */
  nack(message: string): void;
};

/** google.rpc.Code of a NACK. */
const INVALID_ARGUMENT = 3;

/**
 * The client's side of a delta subscription to every resource of a type: remembers which versions
 * were ACKed.
 */
export class ClientSubscription {
  readonly typeUrl: string;
  readonly #versions = new Map<string, string>();

  constructor(typeUrl: string) {
    this.typeUrl = typeUrl;
  }

  /** The first request of a stream. */
  first(node: Node): object {
    return {
      node,
      type_url: this.typeUrl,
      resource_names_subscribe: [WILDCARD],
      initial_resource_versions: Object.fromEntries(this.#versions),
    };
  }

  /** The change that a response brings; its answer goes out by `send`. */
  update(response: DeltaDiscoveryResponse, send: (request: object) => void): Update {
    const changed = response.resources.map(({ name, version, resource }) => ({
      name,
      version,
      any: resource,
    }));
    const removed = response.removed_resources;
    let answered = false;
    const answer = (error_detail: object | null) => {
      if (!answered) send({ type_url: this.typeUrl, response_nonce: response.nonce, error_detail });
      answered = true;
    };
    const ack = () => {
      if (!answered) this.#hold(changed, removed);
      answer(null);
    };
    const nack = (message: string) => answer({ code: INVALID_ARGUMENT, message });
    return {
      typeUrl: this.typeUrl,
      changed,
      removed,
      complete: this.#completes(response),
      ack,
      nack,
    };
  }

  /**
   * The server's version is a hash of the names and versions of all that it has, and counts the
   * NACKs behind a dash.
   */
  #completes({
    resources,
    removed_resources,
    system_version_info,
  }: DeltaDiscoveryResponse): boolean {
    const held = new Map(this.#versions);
    for (const { name, version } of resources) held.set(name, version);
    for (const name of removed_resources) held.delete(name);
    return versionOf(held) === system_version_info.split('-')[0];
  }

  #hold(changed: readonly XdsResource[], removed: readonly string[]): void {
    for (const { name, version } of changed) this.#versions.set(name, version);
    for (const name of removed) this.#versions.delete(name);
  }
}
