import type { LabelSpecifier } from '#resources/label-specifier.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { moduleConfig } from './module-config.ts';
import { EDGE } from './node-groups.ts';

/** Request headers that no limit of a label domain may set, by their identity, with the reason: who needs what the client sent. */
export type TakenHeaders = ReadonlyMap<string, string>;

/** Names that some upstream takes for one header: in any letter case, and with `_` for `-`. */
export function headerIdentity(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/**
 * The taken headers of each label domain. A label reads its header from the client, so no limit may set it, which would take it
 * from every request. (Headers that Filters set belong here too, in every domain.)
 */
export function takenHeaders(resources: ResourceSet): ReadonlyMap<string, TakenHeaders> {
  const taken = new Map<string, Map<string, string>>();
  const add = (domain: string, specifiers: readonly LabelSpecifier[], where: string) => {
    for (const specifier of specifiers) {
      if (specifier.type !== 'request_header') continue;
      const headers = taken.get(domain) ?? new Map<string, string>();
      taken.set(domain, headers);
      const header = headerIdentity(specifier.header);
      if (!headers.has(header)) headers.set(header, `the label "${specifier.key}" of ${where} reads`);
    }
  };
  for (const [domain, { defaults }] of Object.entries(moduleConfig(resources).default_labels)) {
    add(domain, defaults, "the Module's default labels");
  }
  for (const { spec, namespace, name } of resources.mappings) {
    if (spec.node_group !== EDGE) continue;
    for (const [domain, groups] of Object.entries(spec.labels)) {
      for (const { specifiers } of groups) add(domain, specifiers, `Mapping ${namespace}/${name}`);
    }
  }
  return taken;
}
