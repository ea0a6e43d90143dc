import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { callersOf, hopOf } from '../clusters/hop.ts';
import { hopServerTls } from '../clusters/hop-tls.ts';
import { EDGE, ofNodeGroup } from '../node-groups.ts';
import type { CompileOptions } from '../options.ts';
import { problemOf } from '../problem-of.ts';
import { withErrorBodies } from '../routes/error-bodies.ts';
import { collectorsOf } from './collectors.ts';
import { httpConnectionManager } from './http-connection-manager.ts';
import { httpFilter, type ServedPort } from './listener.ts';
import { proxyConfigPlaces } from './proxy-config-places.ts';

/**
 * Returns the addresses in the ProxyConfigs of a node group behind the edge. All serve the same
 * routes, and require mutual TLS of their callers where that is on. `resources` are those of all
 * groups, since the Mappings of other groups tell which groups call.
 */
export function applicationPorts(
  resources: ResourceSet,
  group: string,
  options: CompileOptions,
): readonly ServedPort[] {
  const hop = hopOf(options);
  const { error_response_overrides: overrides } = resources.config;
  const own = ofNodeGroup(resources, group);
  const replacing = withErrorBodies(own.mappings);
  const errorBodies = replacing.length > 0;
  const { collectors, origins: told } = collectorsOf(resources);
  const manager = httpConnectionManager(group, undefined, undefined, {
    overrides,
    errorBodies,
    figures: options.figures !== false,
    collectors,
  });
  const modules = overrides === undefined ? [] : resources.modules.slice(0, 1).map(({ id }) => id);
  const hopSocket = hopServerTls(hop.trustDomain, { groups: callersOf(resources, group, hop) });
  return proxyConfigPlaces(own, hop).map(({ address, origins, plain }) => ({
    address,
    chains: [
      {
        ...(plain || hopSocket === undefined ? {} : { transportSocket: hopSocket }),
        filters: [httpFilter(manager)],
      },
    ],
    origins: [...origins, ...modules, ...replacing, ...told],
  }));
}

/** Returns a Problem when a node group without a listener cannot be reached. */
export function listenerProblems(
  { mappings, proxyConfigs }: ResourceSet,
  group: string,
): readonly Problem[] {
  if (group === EDGE || proxyConfigs.some(({ spec }) => spec.listener !== undefined)) return [];
  return [...mappings, ...proxyConfigs].map(resource =>
    problemOf(
      resource,
      'warning',
      'spec.node_group',
      `node group ${group} has no listener: no ProxyConfig with this node_group has a \`listener\``,
    ),
  );
}
