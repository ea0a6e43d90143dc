import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { GATEWAY_ANNOTATION } from '#resources/words/gateway-edges.ts';
import { gatewayGroup } from '#resources/words/gateway-group.ts';
import type { Owner } from './kept-secret.ts';

/** A ServiceAccount of the proxies of a Gateway. */
export type EdgeAccount = {
  readonly namespace: string;
  /** The node group whose identity the proxies get. */
  readonly group: string;
  /** The account, as the owner of what is made for it. */
  readonly owner: Owner;
};

/**
 * Reads a ServiceAccount that was made for a Gateway. Whoever may make one gets the identities of
 * Gateways in its own namespace, and no others.
 * @returns undefined when it names no Gateway of its namespace
 */
export function edgeAccount({ metadata }: KubernetesObject): EdgeAccount | undefined {
  const { namespace = '', name, uid = '', annotations } = metadata;
  const [kind, place, gateway = '', ...more] = (annotations?.[GATEWAY_ANNOTATION] ?? '').split('/');
  if (kind !== 'Gateway' || place !== namespace || gateway === '' || more.length > 0)
    return undefined;
  const owner = { apiVersion: 'v1', kind: 'ServiceAccount', name, uid };
  return { namespace, group: gatewayGroup(namespace, gateway), owner };
}
