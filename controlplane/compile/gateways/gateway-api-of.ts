import type { GatewayApi } from '#controlplane/gateway-api/served-gateway.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { CompileOptions } from '../options.ts';

const NONE: GatewayApi = { gateways: [], statuses: new Map(), problems: [] };

/** Returns what the objects of Gateway API ask for. */
export function gatewayApiOf(
  _resources: ResourceSet,
  _options: Pick<CompileOptions, 'gateways' | 'shared'>,
): GatewayApi {
  return NONE;
}
