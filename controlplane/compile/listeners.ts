import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/host.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { CompiledResource } from './compiled.ts';
import { type EdgeParts, httpConnectionManager } from './http-connection-manager.ts';
import { listenerName, toListener } from './listener.ts';
import { EDGE } from './node-groups.ts';
import type { CompileOptions } from './options.ts';
import { problemOf } from './problem-of.ts';

/** What the edge's listeners have besides, and the ids of the resources that it comes from. */
export type EdgeListener = EdgeParts & { readonly origins: readonly string[] };

/** One listener for each address that the ProxyConfigs of the node group give; all serve the same routes, over the same transport socket. */
export function listeners(
  resources: ResourceSet,
  group: string,
  options: CompileOptions,
  edge: EdgeListener | undefined,
  transportSocket?: JsonObject,
): readonly CompiledResource[] {
  const manager = httpConnectionManager(group, edge);
  return [...addresses(resources, group, options).values()].map(({ address, origins }) => ({
    name: listenerName(address),
    json: toListener(address, manager, transportSocket),
    origins: [...origins, ...(edge?.origins ?? [])],
  }));
}

function addresses({ proxyConfigs }: ResourceSet, group: string, { edge }: CompileOptions) {
  const given = proxyConfigs.flatMap(({ id, spec: { listener } }) =>
    listener === undefined ? [] : [{ address: { host: listener.address, port: listener.port }, id }],
  );
  const found = new Map<string, { address: HostPort; origins: string[] }>();
  for (const { address, id } of given) {
    const name = listenerName(address);
    found.set(name, { address, origins: [...(found.get(name)?.origins ?? []), id] });
  }
  if (found.size === 0 && group === EDGE) found.set(listenerName(edge), { address: edge, origins: [] });
  return found;
}

/** Without a listener nothing of the node group can be reached. */
export function listenerProblems({ mappings, proxyConfigs }: ResourceSet, group: string): readonly Problem[] {
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
