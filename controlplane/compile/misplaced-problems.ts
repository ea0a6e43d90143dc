import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { EXT_AUTHZ, ofNodeGroup, RATELIMIT_SERVICE, SDS } from './node-groups.ts';
import { problemOf } from './problem-of.ts';

const SERVICES = {
  [EXT_AUTHZ]: "the gateway's own service that runs filters",
  [RATELIMIT_SERVICE]: "the gateway's own rate limit service",
  [SDS]: "the gateway's own discovery service",
} as const;

/**
 * Returns Problems of Mappings and ProxyConfigs for the group of one of our own services. They have
 * no effect.
 */
export function misplacedProblems(
  resources: ResourceSet,
  service: keyof typeof SERVICES,
): readonly Problem[] {
  const { mappings, proxyConfigs } = ofNodeGroup(resources, service);
  return [...mappings, ...proxyConfigs].map(resource =>
    problemOf(
      resource,
      'error',
      'spec.node_group',
      `${service} is ${SERVICES[service]}, not a node group of proxies: nothing serves this ${resource.kind}. Name another node_group`,
    ),
  );
}
