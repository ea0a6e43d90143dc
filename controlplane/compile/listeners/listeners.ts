import { formatHostPort } from '#grpc/host-port.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { HostPort } from '#resources/words/host.ts';
import { callersOf, type Hop, hopOf } from '../clusters/hop.ts';
import { hopServerTls } from '../clusters/hop-tls.ts';
import type { CompiledResource } from '../compiled.ts';
import { EDGE, ofNodeGroup } from '../node-groups.ts';
import type { CompileOptions } from '../options.ts';
import { problemOf } from '../problem-of.ts';
import { withErrorBodies } from '../routes/error-bodies.ts';
import { collectorsOf } from './collectors.ts';
import { type EdgeParts, httpConnectionManager } from './http-connection-manager.ts';
import { listenerName, toListener } from './listener.ts';

/** What the edge's listeners also have, and the ids of the resources that it comes from. */
export type EdgeListener = EdgeParts & { readonly origins: readonly string[] };

/**
 * Returns one listener for each address in the ProxyConfigs of the node group. All serve the same
 * routes, and require mutual TLS of their callers where that is on. `resources` are those of all
 * groups, since the Mappings of other groups tell which groups call.
 */
export function listeners(
  resources: ResourceSet,
  group: string,
  options: CompileOptions,
  edge: EdgeListener | undefined,
): readonly CompiledResource[] {
  const hop = hopOf(options);
  const { error_response_overrides: overrides } = resources.config;
  const replacing = withErrorBodies(ofNodeGroup(resources, group).mappings);
  const errorBodies = replacing.length > 0;
  const { collectors, origins: told } = collectorsOf(resources);
  const manager = httpConnectionManager(group, edge, undefined, {
    overrides,
    errorBodies,
    figures: options.figures !== false,
    collectors,
  });
  const modules = overrides === undefined ? [] : resources.modules.slice(0, 1).map(({ id }) => id);
  const hopSocket = hopServerTls(hop.trustDomain, { groups: callersOf(resources, group, hop) });
  const places = addresses(ofNodeGroup(resources, group), group, options, hop);
  return [...places.values()].map(({ address, origins, plain }) => ({
    name: listenerName(address),
    json: toListener(address, manager, group === EDGE || plain ? undefined : hopSocket),
    origins: [...origins, ...(edge?.origins ?? [...modules, ...replacing, ...told])],
  }));
}

type Place = {
  readonly address: HostPort;
  readonly origins: readonly string[];
  readonly plain: boolean;
};

/** An address that several ProxyConfigs share is plain only if all of them say so. */
function addresses(
  { proxyConfigs }: ResourceSet,
  group: string,
  { edge }: CompileOptions,
  { isDefault }: Hop,
): ReadonlyMap<string, Place> {
  const found = new Map<string, Place>();
  for (const { id, spec } of proxyConfigs) {
    if (spec.listener === undefined) continue;
    const { address: host, port, hop_tls = isDefault } = spec.listener;
    const name = listenerName({ host, port });
    const { origins, plain } = found.get(name) ?? { origins: [], plain: true };
    found.set(name, {
      address: { host, port },
      origins: [...origins, id],
      plain: plain && !hop_tls,
    });
  }
  if (found.size > 0 || group !== EDGE) return found;
  return new Map([[listenerName(edge), { address: edge, origins: [], plain: true }]]);
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

/** Returns a Problem when ProxyConfigs move the edge away from its usual address. */
export function edgeAddressProblems(
  { proxyConfigs }: ResourceSet,
  { edge }: CompileOptions,
): readonly Problem[] {
  const moving = proxyConfigs.filter(({ spec }) => spec.listener !== undefined);
  if (moving.some(({ spec }) => spec.listener?.port === edge.port)) return [];
  const away = `this moves the edge: nothing listens on its default address ${formatHostPort(edge)} (EDGE_ADDRESS) any more`;
  const remedy = 'a further ProxyConfig with that address in its `listener` serves both';
  return moving.map(config =>
    problemOf(config, 'warning', 'spec.listener.port', `${away}. If that is not meant, ${remedy}`),
  );
}
