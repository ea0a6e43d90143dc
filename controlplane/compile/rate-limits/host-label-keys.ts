import type { LabelSpecifier } from '#resources/label-specifier.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { moduleConfig } from '../module-config.ts';
import { EDGE } from '../node-groups.ts';

/** The edge says in both what the client sent as host. */
const HOST_HEADERS: ReadonlySet<string> = new Set([':authority', 'x-forwarded-host']);

/**
 * Keys of the labels that hold the host of a request, by label domain, sorted: the rate limit
 * service ignores their letter case and port.
 */
export function hostLabelKeys(resources: ResourceSet): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, Set<string>>();
  const add = (domain: string, specifiers: readonly LabelSpecifier[]) => {
    for (const specifier of specifiers) {
      if (specifier.type !== 'request_header' || !HOST_HEADERS.has(specifier.header)) continue;
      keys.set(domain, (keys.get(domain) ?? new Set()).add(specifier.key));
    }
  };
  for (const [domain, { defaults }] of Object.entries(moduleConfig(resources).default_labels))
    add(domain, defaults);
  for (const { spec } of resources.mappings) {
    if (spec.node_group !== EDGE) continue;
    for (const [domain, groups] of Object.entries(spec.labels))
      for (const { specifiers } of groups) add(domain, specifiers);
  }
  return new Map([...keys].map(([domain, ofDomain]) => [domain, [...ofDomain].sort()]));
}
