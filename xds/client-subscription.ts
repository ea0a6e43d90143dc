import { type DeltaDiscoveryResponse, type Node, WILDCARD } from './discovery.ts';
import { versionOf, type XdsResource } from './snapshot.ts';

/** A change of the resources of one type. Only the first answer counts. */
export type Update = {
  readonly typeUrl: string;
  readonly changed: readonly XdsResource[];
  readonly removed: readonly string[];
  /**
   * True when the client now has all that the server has of the type. A large change comes in
   * parts, and this is false for all but the last. Code that must not act on a part waits for the
   * last one.
   */
  readonly complete: boolean;
  /** Accepts the change, which is then in force. */
  ack(): void;
  /**
   * Rejects the whole change. What was ACKed before stays in force. `message` reaches the operator.
   */
  nack(message: string): void;
};

/** google.rpc.Code of a NACK. */
const INVALID_ARGUMENT = 3;

/**
 * Subscribes to every resource of a type, as the client of a delta stream. Remembers which versions
 * were ACKed.
 */
export class ClientSubscription {
  readonly typeUrl: string;
  readonly #versions = new Map<string, string>();
  /** Whether these were all that the server had. */
  #isWhole = true;

  constructor(typeUrl: string) {
    this.typeUrl = typeUrl;
  }

  /** Returns the first request of a stream. */
  first(node: Node): object {
    return {
      node,
      type_url: this.typeUrl,
      resource_names_subscribe: [WILDCARD],
      initial_resource_versions: Object.fromEntries(this.#brought()),
    };
  }

  /** Returns the change that a response brings. `send` sends its answer. */
  update(response: DeltaDiscoveryResponse, send: (request: object) => void): Update {
    const changed = response.resources.map(({ name, version, resource }) => ({
      name,
      version,
      any: resource,
    }));
    const removed = response.removed_resources;
    const complete = this.#completes(response);
    let answered = false;
    const answer = (error_detail: object | null) => {
      if (!answered) send({ type_url: this.typeUrl, response_nonce: response.nonce, error_detail });
      answered = true;
    };
    const ack = () => {
      if (!answered) {
        this.#hold(changed, removed);
        this.#isWhole = complete;
      }
      answer(null);
    };
    const nack = (message: string) => answer({ code: INVALID_ARGUMENT, message });
    return {
      typeUrl: this.typeUrl,
      changed,
      removed,
      complete,
      ack,
      nack,
    };
  }

  /**
   * A server that has nothing new says nothing. So in the middle of a change one resource counts as
   * unknown. It is sent again, and with it comes whether this is all by now.
   */
  #brought(): ReadonlyMap<string, string> {
    const [first] = this.#versions.keys();
    const isKnown = this.#isWhole || first === undefined;
    return isKnown ? this.#versions : new Map(this.#versions).set(first, '');
  }

  /**
   * The server's version is a hash of the names and versions of all that it has. A dash and the
   * number of NACKs follow the hash.
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
