import type { HostPort } from '#resources/host.ts';
import { module } from '#resources/module.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { CompiledResource } from './compiled.ts';
import { httpConnectionManager, type ModuleConfig } from './http-connection-manager.ts';
import { listenerName, toListener } from './listener.ts';
import { EDGE } from './node-groups.ts';
import type { CompileOptions } from './options.ts';
import { problemOf } from './problem-of.ts';

/** The settings of the whole gateway: those of the first Module by id, or the defaults. */
export function moduleConfig({ modules }: ResourceSet): ModuleConfig {
  return modules[0]?.spec.config ?? module.schema.parse({}).config;
}

/** One listener for each address that the ProxyConfigs of the node group give; all serve the same routes. */
export function listeners(
  resources: ResourceSet,
  group: string,
  options: CompileOptions,
): readonly CompiledResource[] {
  const manager = httpConnectionManager(group, moduleConfig(resources));
  const modules = group === EDGE ? resources.modules.slice(0, 1).map(({ id }) => id) : [];
  return [...addresses(resources, group, options).values()].map(({ address, origins }) => ({
    name: listenerName(address),
    json: toListener(address, manager),
    origins: [...origins, ...modules],
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
