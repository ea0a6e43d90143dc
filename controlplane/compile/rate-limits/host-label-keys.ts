import type { LabelSpecifier } from '#resources/label-specifier.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { moduleConfig } from '../module-config.ts';
import { EDGE } from '../node-groups.ts';

/** Keys of the labels that hold the host of a request, by label domain, sorted: the rate limit service takes their letter case for nothing. */
export function hostLabelKeys(resources: ResourceSet): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, Set<string>>();
  const add = (domain: string, specifiers: readonly LabelSpecifier[]) => {
    for (const specifier of specifiers) {
      if (specifier.type !== 'request_header' || specifier.header !== ':authority') continue;
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
