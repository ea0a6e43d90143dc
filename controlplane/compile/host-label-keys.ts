import type { LabelSpecifier } from '#resources/label-specifier.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { defaultsOf } from './labelling.ts';
import { moduleConfig } from './module-config.ts';
import { EDGE } from './node-groups.ts';

/** Keys of the labels of a domain that hold the host of a request, sorted: the rate limit service takes their letter case for nothing. */
export function hostLabelKeys(resources: ResourceSet, domain: string): readonly string[] {
  const ofMappings = resources.mappings
    .filter(({ spec }) => spec.node_group === EDGE && Object.hasOwn(spec.labels, domain))
    .flatMap(({ spec }) => (spec.labels[domain] ?? []).flatMap(({ specifiers }) => specifiers));
  const all = [...defaultsOf(moduleConfig(resources).default_labels, domain), ...ofMappings];
  return [...new Set(all.flatMap(hostKey))].sort();
}

function hostKey(specifier: LabelSpecifier): readonly string[] {
  return specifier.type === 'request_header' && specifier.header === ':authority' ? [specifier.key] : [];
}
