import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/words/host.ts';
import { EXT_AUTHZ } from '../node-groups.ts';
import type { CompileOptions } from '../options.ts';
import { CALL_RETRIES } from './call-retries.ts';
import { toCluster } from './cluster.ts';
import { membersOf } from './members.ts';
import { EXT_AUTHZ_CLUSTER } from './reserved-clusters.ts';
import { serviceTls } from './service-tls.ts';

/** Short, so that a dead address is noticed soon. */
const CONNECT_TIMEOUT_MS = 1000;

/**
 * Returns Envoy's `Cluster` of the Filter service. It speaks HTTP/2 to all addresses that DNS has
 * for the name, by mutual TLS where the service is on another machine.
 */
export function extAuthzCluster(address: HostPort, options: CompileOptions): JsonObject {
  return toCluster(EXT_AUTHZ_CLUSTER, {
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    members: membersOf(EXT_AUTHZ_CLUSTER, address),
    protocol: 'http2',
    retries: CALL_RETRIES,
    ...serviceTls(address, EXT_AUTHZ, options),
  });
}
