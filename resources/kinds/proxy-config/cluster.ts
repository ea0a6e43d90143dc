import * as z from 'zod';
import { outlierDetection } from '#resources/traffic/outlier-detection.ts';
import { hostUrl } from '#resources/words/host-url.ts';
import { positiveMilliseconds } from '#resources/words/number-types.ts';
import { discoveredInNamespace } from '#resources/words/service-namespace.ts';
import { healthChecks } from '../mapping/health-checks.ts';

const host = z
  .object({ url: hostUrl.describe('Address of a member') })
  .transform(member => member.url);

const shape = {
  name: z.string().min(1).max(253).meta({ form: 'a name' }).describe('Name of the cluster'),
  lb_type: z
    .enum(['round_robin'])
    .default('round_robin')
    .describe('How requests are spread over its members'),
  hosts: z.array(host).default([]).describe('Members, not with type `sds`'),
  connect_timeout_ms: positiveMilliseconds
    .default(250)
    .describe('Time for a connection to a member'),
};

/** An upstream cluster (docs/reference/kinds/proxy-config.md). */
export const cluster = z.object({
  ...shape,
  type: z
    .enum(['strict_dns', 'static', 'sds'])
    .describe(
      '`strict_dns`: DNS lists the members. `static`: fixed IP addresses. `sds`: from the discovery service',
    ),
  service_name: z
    .string()
    .min(1)
    .max(253)
    .exactOptional()
    .describe(
      'Name asked of the discovery service, with type `sds`. Default: `name`. Without a dot it is in the namespace that the ProxyConfig names',
    ),
  hop_tls: z
    .boolean()
    .exactOptional()
    .describe(
      'Mutual TLS to the proxies before the members, with type `sds`. Default: where the gateway has it (`HOP_TLS`). `false`: plain',
    ),
  health_checks: healthChecks
    .exactOptional()
    .describe('How the members are asked whether they are well, as of a Mapping'),
  outlier_detection: outlierDetection
    .exactOptional()
    .describe('When a member that fails requests gets none for a while, as of a Mapping'),
  features: z.enum(['http2']).exactOptional().describe('`http2`: the members speak HTTP/2'),
});

/** The cluster of the discovery service itself, which cannot come from the discovery service. */
export const discoveryCluster = z.object({
  ...shape,
  type: z
    .enum(['strict_dns', 'static'])
    .describe('`strict_dns`: DNS lists the members. `static`: fixed IP addresses'),
});

/**
 * Returns the cluster as a ProxyConfig of this namespace means it. DNS names stay as they are
 * written.
 */
export function clusterIn(cluster: ProxyCluster, namespace: string): ProxyCluster {
  if (cluster.type !== 'sds') return cluster;
  const service_name = discoveredInNamespace(cluster.service_name ?? cluster.name, namespace);
  return { ...cluster, service_name };
}

export type ProxyCluster = z.output<typeof cluster>;
export type DiscoveryCluster = z.output<typeof discoveryCluster>;
