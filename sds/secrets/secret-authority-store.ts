import type { AuthorityStore } from '#certificates/authority/authority-store.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { keptSecret } from './kept-secret.ts';

const KEY = 'roots.json';

/**
 * Stores the authority's roots in a Secret of the process's own namespace, shared by all replicas.
 */
export function secretAuthorityStore(cluster: Cluster, name: string): AuthorityStore {
  const secret = keptSecret(cluster, name, 'Opaque');
  return {
    place: secret.place,
    async read() {
      const kept = await secret.read();
      return kept && { text: kept.texts[KEY] ?? '', mark: kept.mark };
    },
    write: (text, mark) => secret.write({ [KEY]: text }, mark),
  };
}
