import { CLUSTER, isAnywhere } from '#resources/kinds/gateway/routability.ts';
import { canonicalAddress } from '#resources/words/ip-address.ts';
import type { AskedAddress, EdgeGateway, EdgePort } from './edge-gateway.ts';
import { podSelector } from './edge-labels.ts';
import { edgeName, furtherName } from './edge-names.ts';

/** A Service of a Gateway. */
export type EdgeService = {
  readonly name: string;
  /** The ClusterIP that it asks for. The cluster never changes that of a Service. */
  readonly clusterIP?: string;
  readonly spec: object;
};

/**
 * Returns the Services of a Gateway. The first has its name, and the addresses of the Gateway but
 * for ClusterIPs beyond its own. Each of those needs a Service of its own.
 */
export function edgeServices(gateway: EdgeGateway): readonly [EdgeService, ...EdgeService[]] {
  const name = edgeName(gateway.name, gateway.className);
  const further = [
    ...staticInside(gateway.addresses).map(clusterIP => ({ which: clusterIP, clusterIP })),
    ...Array.from({ length: furtherInside(gateway) }, (_, index) => ({ which: `${index + 1}` })),
  ];
  return [
    { name, spec: mainSpec(gateway) },
    ...further.map(({ which, ...asked }) => ({
      name: furtherName(name, which),
      ...asked,
      spec: { type: 'ClusterIP', ...asked, ...commonSpec(gateway) },
    })),
  ];
}

/**
 * Returns the type of the first Service. One that asks for other addresses than those from anywhere
 * must not be reached from outside of the cluster, though they cannot all be had.
 */
function typeOf({ addresses, deployment }: EdgeGateway): string {
  const isOutside = addresses.length === 0 || addresses.some(each => isAnywhere(each.routability));
  return isOutside ? deployment.service.type : 'ClusterIP';
}

function mainSpec(gateway: EdgeGateway): object {
  const type = typeOf(gateway);
  const isBalanced = type === 'LoadBalancer';
  const asked = gateway.addresses.flatMap(({ routability, value }) =>
    value !== undefined && isAnywhere(routability) ? [value] : [],
  );
  const [first] = asked;
  return {
    type,
    // Local, so that the proxies see the addresses of clients, by which limits count them.
    ...(type === 'ClusterIP' ? {} : { externalTrafficPolicy: 'Local' }),
    ...(isBalanced && first !== undefined ? { loadBalancerIP: first } : {}),
    ...(!isBalanced && asked.length > 0 ? { externalIPs: asked } : {}),
    ...commonSpec(gateway),
  };
}

/** Returns the ClusterIPs that are asked for by their value. */
function staticInside(addresses: readonly AskedAddress[]): readonly string[] {
  const asked = addresses.flatMap(({ routability, value }) =>
    value !== undefined && routability === CLUSTER ? [canonicalAddress(value) ?? value] : [],
  );
  return [...new Set(asked)];
}

/**
 * Returns how many ClusterIPs of any value are needed beside that of the first Service. Where some
 * are asked for by value, that one may be among them.
 */
function furtherInside(gateway: EdgeGateway): number {
  const { addresses } = gateway;
  const isBalanced = typeOf(gateway) === 'LoadBalancer';
  const any = addresses.filter(
    ({ routability, value }) =>
      value === undefined && (routability === CLUSTER || (!isBalanced && isAnywhere(routability))),
  );
  const own = staticInside(addresses).length === 0 ? 1 : 0;
  return Math.max(0, any.length - own);
}

function commonSpec(gateway: EdgeGateway): object {
  return {
    selector: podSelector(gateway),
    ports: inOrder(gateway.ports).map(({ port, protocol }) => ({
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
