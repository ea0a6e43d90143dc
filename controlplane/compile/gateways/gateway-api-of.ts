import { edgePorts } from '#controlplane/gateway-api/edge-ports.ts';
import {
  DEFAULT_CONTROLLER,
  type GatewayOptions,
} from '#controlplane/gateway-api/gateway-options.ts';
import type { GatewayApi } from '#controlplane/gateway-api/served-gateway.ts';
import { asksNothing, servedGateways } from '#controlplane/gateway-api/served-gateways.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { Memo } from '../memo.ts';
import type { CompileOptions } from '../options.ts';

const DEFAULT_GATEWAYS: GatewayOptions = {
  controller: DEFAULT_CONTROLLER,
  sharedEdge: true,
  apiGroups: DEFAULT_PARSE_OPTIONS.apiGroups,
};

const NONE: GatewayApi = { gateways: [], statuses: new Map(), problems: [] };

/**
 * Returns what the objects of Gateway API ask for. It is found once for the same resources, since
 * each Gateway is a node group that asks.
 */
export function gatewayApiOf(
  resources: ResourceSet,
  { gateways = DEFAULT_GATEWAYS, shared = new Memo() }: Pick<CompileOptions, 'gateways' | 'shared'>,
): GatewayApi {
  if (asksNothing(resources)) return NONE;
  const ports = edgePorts(resources, gateways).join();
  const inputs = [gateways, ports, ...READ.map(list => resources[list])];
  return shared.of(resources.gateways, 'gateway API', inputs, () =>
    servedGateways(resources, gateways, shared),
  );
}

/** What it depends on. */
const READ = [
  ...['gatewayClasses', 'gateways', 'listenerSets', 'httpRoutes', 'grpcRoutes', 'tlsRoutes'],
  ...['tcpRoutes', 'udpRoutes', 'referenceGrants', 'backendTlsPolicies', 'namespaces', 'services'],
  ...[
    'clusterTrustBundles',
    'configMaps',
    'secrets',
    'filters',
    'proxyConfigs',
    'knowsServices',
    'closed',
  ],
  ...['filterPolicies', 'rateLimits'],
] as readonly (keyof ResourceSet)[];
