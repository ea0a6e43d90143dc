import type { LabelSpecifier } from '#resources/labels/label-specifier.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import { EDGE } from '../node-groups.ts';
import { labelledMappings } from './label-keys.ts';
import { labellings } from './labelling.ts';
import { readBy, takenByFilters } from './taken-by-filters.ts';

/**
 * Request headers that no limit of a label domain may set, by their identity, with the reason for a
 * Problem.
 */
export type TakenHeaders = ReadonlyMap<string, string>;

/**
 * Returns the taken headers of each label domain. A label reads its header from the client. A limit
 * that sets the header would remove it from every request, so no limit beside the label may set it.
 * Headers that Filters set or read are taken in every domain.
 */
export function takenHeaders(resources: ResourceSet): ReadonlyMap<string, TakenHeaders> {
  const taken = new Map<string, Map<string, string>>();
  const take = (domain: string, name: string, reason: string) => {
    const headers = taken.get(domain) ?? new Map<string, string>();
    taken.set(domain, headers);
    const header = headerIdentity(name);
    if (!headers.has(header)) headers.set(header, reason);
  };
  const asked = labellings(resources).domains.map(({ domain }) => domain);
  const add = (domain: string, specifiers: readonly LabelSpecifier[], where: string) => {
    for (const specifier of specifiers) {
      if (specifier.type !== 'request_header') continue;
      for (const each of asked.includes(domain) ? asked : [domain])
        take(each, specifier.header, readBy(`the label "${specifier.key}" of ${where}`));
    }
  };
  for (const [domain, { defaults }] of Object.entries(resources.config.default_labels)) {
    add(domain, defaults, "the Module's default labels");
  }
  for (const { spec, namespace, name } of labelledMappings(resources.mappings)) {
    if (spec.node_group !== EDGE) continue;
    for (const [domain, groups] of Object.entries(spec.labels)) {
      for (const { specifiers } of groups) add(domain, specifiers, `Mapping ${namespace}/${name}`);
    }
  }
  for (const { spec, namespace, name } of resources.rateLimits) {
    for (const { labels } of spec.limits)
      add(spec.domain, labels, `RateLimit ${namespace}/${name}`);
  }
  const domains = new Set(resources.rateLimits.map(({ spec }) => spec.domain));
  for (const { name, reason } of takenByFilters(resources)) {
    for (const domain of domains) take(domain, name, reason);
  }
  return taken;
}
