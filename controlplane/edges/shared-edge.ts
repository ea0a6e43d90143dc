import { type Following, follow } from '#kubernetes/follow.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { type EdgeAddresses, edgeAddresses } from './edge-addresses.ts';
import type { AskedAddress } from './edge-gateway.ts';
import type { EdgesParts } from './edges.ts';

/** The Service of the proxies that all Gateways share, in the control plane's own namespace. */
const SERVICE = 'edge';

export type SharedEdge = Following & {
  /** Returns the addresses of the Service, of those asked for if there are any. */
  addresses(asked: readonly AskedAddress[]): EdgeAddresses | 'unread';
};

/** Follows the Service of the edge that all Gateways share. */
export function followSharedEdge({ changed, log, ...parts }: EdgesParts): SharedEdge {
  let service: KubernetesObject | 'unread' | undefined = 'unread';
  const following = follow<KubernetesObject>({
    ...parts,
    resource: { group: '', version: 'v1', plural: 'services', namespace: parts.cluster.namespace },
    fieldSelector: `metadata.name=${SERVICE}`,
    read: object => object,
    onChange: objects => {
      [service] = objects.values();
      changed();
    },
    onTrouble: (error, repeated) => {
      if (!repeated) log.warn(`cannot follow the Service ${SERVICE}: ${error.message}`);
    },
  });
  return {
    ...following,
    addresses: asked =>
      service === 'unread' ? service : edgeAddresses([{ object: service }], asked),
  };
}
