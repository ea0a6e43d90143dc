import type { Cluster } from '#kubernetes/cluster.ts';
import type { IdentityTarget } from './identity-target.ts';
import { keptSecret } from './kept-secret.ts';

/**
 * Keeps an identity in the Secret `gateway-identity-<group>` of type kubernetes.io/tls, with
 * `ca.crt`. A container mounts it as its TLS_FOLDER.
 */
export function identitySecret(cluster: Cluster, group: string): IdentityTarget {
  const secret = keptSecret(cluster, `gateway-identity-${group}`, 'kubernetes.io/tls');
  return {
    place: secret.place,
    async read() {
      const kept = await secret.read();
      if (kept === undefined) return undefined;
      const { 'tls.crt': certificate = '', 'tls.key': key = '', 'ca.crt': ca = '' } = kept.texts;
      return { material: { certificate, key, ca }, mark: kept.mark };
    },
    write: ({ certificate, key, ca }, mark) =>
      secret.write({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca }, mark),
  };
}
