import type { EdgeGateway, EdgePort } from './edge-gateway.ts';
import { podSelector } from './edge-labels.ts';

/** Returns the spec of a Gateway's Service. */
export function edgeServiceSpec(gateway: EdgeGateway): object {
  const { addresses, deployment, ports } = gateway;
  const { type } = deployment.service;
  const isBalanced = type === 'LoadBalancer';
  const [first] = addresses;
  return {
    type,
    // Local, so that the proxies see the addresses of clients, by which limits count them.
    ...(type === 'ClusterIP' ? {} : { externalTrafficPolicy: 'Local' }),
    ...(isBalanced && first !== undefined ? { loadBalancerIP: first } : {}),
    ...(!isBalanced && addresses.length > 0 ? { externalIPs: addresses } : {}),
    selector: podSelector(gateway),
    ports: inOrder(ports).map(({ port, protocol }) => ({
      name: `${protocol.toLowerCase()}-${port}`,
      port,
      protocol,
      targetPort: port,
    })),
  };
}

/** Several listeners may share a port. The order does not depend on that of the listeners. */
function inOrder(ports: readonly EdgePort[]): readonly EdgePort[] {
  const byName = new Map(ports.map(each => [`${each.protocol}/${each.port}`, each]));
  return [...byName.values()].sort((a, b) => a.port - b.port || (a.protocol < b.protocol ? -1 : 1));
}
