import { byAge } from '#controlplane/gateway-api/by-age.ts';
import type { GatewayApiStatus } from '#controlplane/gateway-api/gateway-api-status.ts';
import type { GatewayApi, ServedGateway } from '#controlplane/gateway-api/served-gateway.ts';
import type { GatewayAddress } from '#resources/kinds/gateway/gateway-address.ts';
import type { ObjectRef } from '#resources/kinds/gateway-api/object-ref.ts';
import { type DeploymentSpec, deployment } from '#resources/kinds/proxy-config/deployment.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { WantedEdges } from './edge-changes.ts';
import type { AskedAddress, EdgeGateway, EdgePort } from './edge-gateway.ts';

const DEFAULT_DEPLOYMENT = deployment.parse({});

/**
 * Returns the Gateways that get proxies of their own. The objects of one that is not accepted stay
 * as they are. So do those of one that is rejected, or on trial, without a
 * last good version. `uids` has the identity of each Gateway in the cluster by its id, and none of
 * one in a file.
 */
export function wantedEdges(
  { gateways, statuses }: GatewayApi,
  resources: ResourceSet,
  uids: ReadonlyMap<string, string>,
): WantedEdges {
  const isWanted = ({ gateway: { id } }: ServedGateway) => isAccepted(statuses.get(id));
  // Where two want one name, the older one has it.
  const sorted = [...gateways].sort((a, b) => byAge(a.gateway, b.gateway));
  const wanted = sorted.filter(isWanted).flatMap(served => {
    const uid = uids.get(served.gateway.id);
    return uid === undefined ? [] : [edgeGateway(served, uid, resources)];
  });
  const others = new Set(
    gateways.filter(served => !isWanted(served)).map(({ gateway }) => gateway.id),
  );
  const known = new Set(resources.gateways.map(({ id }) => id));
  const kept = [...uids].filter(([id]) => others.has(id) || !known.has(id));
  return { gateways: wanted, kept: new Map(kept) };
}

function isAccepted(status: GatewayApiStatus | undefined): boolean {
  const conditions = status?.kind === 'Gateway' ? status.conditions : [];
  return conditions.every(({ type, status: value }) => type !== 'Accepted' || value !== 'False');
}

function edgeGateway(
  { gateway, group, listeners }: ServedGateway,
  uid: string,
  resources: ResourceSet,
): EdgeGateway {
  const { namespace, name, spec } = gateway;
  const { labels = {}, annotations = {} } = spec.infrastructure ?? {};
  return {
    ...{ namespace, name, uid, group, labels, annotations },
    className: spec.gatewayClassName,
    ports: listeners.map(
      ({ port, protocol }): EdgePort => ({ port, protocol: protocol === 'UDP' ? 'UDP' : 'TCP' }),
    ),
    addresses: spec.addresses.map(toAsked),
    deployment: deploymentOf(gateway, resources),
  };
}

function toAsked({ routability, value = '' }: GatewayAddress): AskedAddress {
  return value === '' ? { routability } : { routability, value };
}

/** The settings of the Gateway come before those of its class. */
function deploymentOf(
  { namespace, spec }: ServedGateway['gateway'],
  { gatewayClasses, proxyConfigs }: ResourceSet,
): DeploymentSpec {
  const gatewayClass = gatewayClasses.find(({ name }) => name === spec.gatewayClassName);
  const refs: readonly (ObjectRef | undefined)[] = [
    spec.infrastructure?.parametersRef && { namespace, ...spec.infrastructure.parametersRef },
    gatewayClass?.spec.parametersRef,
  ];
  const found = refs.flatMap(
    ref =>
      proxyConfigs.find(each => each.name === ref?.name && each.namespace === ref.namespace) ?? [],
  );
  return found.flatMap(each => each.spec.deployment ?? [])[0] ?? DEFAULT_DEPLOYMENT;
}
