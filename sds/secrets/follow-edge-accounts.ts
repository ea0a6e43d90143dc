import type { Cluster } from '#kubernetes/cluster.ts';
import { type Following, follow } from '#kubernetes/follow.ts';
import { EDGES_LABEL } from '#resources/words/gateway-edges.ts';
import { type EdgeAccount, edgeAccount } from './edge-account.ts';
import { type KeepEdgeIdentitiesOptions, keepEdgeIdentities } from './keep-edge-identities.ts';
import type { Tending } from './keep-tending.ts';
import { keptSecret } from './kept-secret.ts';

export type FollowEdgeAccountsOptions = Omit<KeepEdgeIdentitiesOptions, 'secret' | 'accounts'> & {
  readonly cluster: Cluster;
  /** The namespaces of Gateways. Undefined means all. */
  readonly namespaces: readonly string[] | undefined;
  /** The name of what is made for Gateways (`edgesName`). */
  readonly name: string;
  /** Called when the accounts cannot be read, once for each reason. It is tried again. */
  onUnread(reason: string): void;
};

const RESOURCE = { group: '', version: 'v1', plural: 'serviceaccounts' };

/**
 * Follows the ServiceAccounts that were made for Gateways, and keeps the identities of their
 * proxies in one Secret of each namespace. Its name is fixed, so that the right to it is a right to
 * no other Secret.
 */
export function followEdgeAccounts(options: FollowEdgeAccountsOptions): Following {
  const { namespaces = [undefined] } = options;
  const following = namespaces.map(namespace => new EdgeAccounts(options, namespace));
  return {
    close: () => {
      for (const each of following) each.close();
    },
  };
}

class EdgeAccounts {
  readonly #options: FollowEdgeAccountsOptions;
  readonly #following: Following;
  readonly #tended = new Map<string, Promise<Tending>>();
  #accounts: ReadonlyMap<string, readonly EdgeAccount[]> = new Map();
  #closed = false;

  constructor(options: FollowEdgeAccountsOptions, namespace: string | undefined) {
    this.#options = options;
    const { cluster, clock, name, onUnread } = options;
    this.#following = follow<EdgeAccount | undefined>({
      cluster,
      resource: { ...RESOURCE, namespace },
      labelSelector: `${EDGES_LABEL}=${name}`,
      read: edgeAccount,
      onChange: (objects, changed) => {
        const accounts = [...objects.values()].filter(each => each !== undefined);
        this.#accounts = Map.groupBy(accounts, each => each.namespace);
        for (const namespace of new Set([...changed].map(namespaceOf))) this.#changed(namespace);
      },
      onTrouble: (error, repeated) => {
        if (!repeated) onUnread(error.message);
      },
      ...clock,
    });
  }

  close(): void {
    this.#closed = true;
    this.#following.close();
    for (const namespace of this.#tended.keys()) this.#end(namespace);
  }

  #changed(namespace: string): void {
    if (this.#accounts.has(namespace)) this.#tend(namespace);
    else this.#end(namespace);
  }

  #tend(namespace: string): void {
    const tended = this.#tended.get(namespace);
    if (tended !== undefined) void tended.then(({ turn }) => !this.#closed && turn());
    else this.#tended.set(namespace, this.#keep(namespace));
  }

  #keep(namespace: string): Promise<Tending> {
    const { cluster, name } = this.#options;
    const accounts = () => this.#accounts.get(namespace) ?? [];
    const owners = () => accounts().map(({ owner }) => owner);
    const secret = keptSecret(cluster, name, 'Opaque', { namespace, owners });
    return keepEdgeIdentities({ ...this.#options, secret, accounts });
  }

  #end(namespace: string): void {
    void this.#tended.get(namespace)?.then(({ close }) => close());
    this.#tended.delete(namespace);
  }
}

/** The key of an object is `namespace/name`. */
function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}
