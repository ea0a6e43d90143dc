import { formatPath } from '#resources/finding.ts';
import type { LabelSpecifier } from '#resources/labels/label-specifier.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { EDGE } from '../node-groups.ts';
import { labelledMappings } from './label-keys.ts';
import { type Labelling, labelGroups } from './labelling.ts';
import { limitField } from './limit-field.ts';

/** A label group, and where the operator wrote it. */
export type WrittenLabels = {
  readonly resource: Resource;
  readonly field: string;
  readonly group: readonly LabelSpecifier[];
  /** The number of labels before those that stand there. */
  readonly before: number;
};

export type LabelSources = Pick<ResourceSet, 'mappings' | 'modules' | 'rateLimits'>;

/**
 * Returns the label groups of a domain, each of the Module, the edge's Mappings and limits for
 * targets.
 */
export function writtenLabels(
  sources: LabelSources,
  labelling: Labelling,
): readonly WrittenLabels[] {
  return [...each(sources, labelling)];
}

function* each(
  { mappings, modules: [module], rateLimits }: LabelSources,
  labelling: Labelling,
): Generator<WrittenLabels> {
  const { domain, defaults } = labelling;
  if (module !== undefined) {
    const field = formatPath(['spec', 'config', 'default_labels', domain]);
    yield { resource: module, field, group: defaults, before: 0 };
  }
  const field = formatPath(['spec', 'labels', domain]);
  for (const resource of labelledMappings(mappings)) {
    if (resource.spec.node_group !== EDGE) continue;
    for (const { specifiers } of labelGroups(resource.spec, labelling))
      yield { resource, field, group: specifiers, before: defaults.length };
  }
  for (const resource of rateLimits) {
    if (resource.spec.domain !== domain) continue;
    for (const [index, { labels }] of resource.spec.limits.entries())
      yield { resource, field: `${limitField(resource, index)}.labels`, group: labels, before: 1 };
  }
}
