import type { LabelSpecifier } from '#resources/labels/label-specifier.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Memo } from '../memo.ts';
import { EDGE } from '../node-groups.ts';
import { labelledMappings } from './label-keys.ts';
import { type Labelling, labelGroups } from './labelling.ts';
import { limitField } from './limit-field.ts';

/**
 * The form of a value that only the request tells: an IP address, as Envoy writes it, or the name
 * of one of the edge's clusters.
 */
export type LabelForm = 'address' | 'cluster';

/**
 * What is known of a label before any request: its key, and its value when it is always the same,
 * or its form.
 */
export type LabelShape = {
  readonly key: string;
  readonly value?: string;
  readonly form?: LabelForm;
};

/** What is known of a label group, and where the operator wrote it. */
export type GroupShape = {
  readonly labels: readonly LabelShape[];
  readonly where: string;
  /** Equal for equal labels. */
  readonly key: string;
};

/**
 * Returns the label groups of the domain that requests can have, each shape once. The default
 * labels alone come first, then those of the edge's Mappings, which come ordered by id, and those
 * of targets.
 */
export function groupShapes(
  { mappings, rateLimits }: Pick<ResourceSet, 'mappings' | 'rateLimits'>,
  labelling: Labelling,
  memo: Memo,
): readonly GroupShape[] {
  const shapes = new Map<string, GroupShape>();
  const add = (shape: GroupShape) => shapes.has(shape.key) || shapes.set(shape.key, shape);
  if (labelling.defaults.length > 0) add(defaultShape(labelling, memo));
  for (const mapping of labelledMappings(mappings)) {
    if (!Object.hasOwn(mapping.spec.labels, labelling.domain)) continue;
    for (const shape of shapesOf(mapping, labelling, memo)) add(shape);
  }
  for (const rateLimit of rateLimits) {
    const isOfDomain = rateLimit.spec.domain === labelling.domain;
    for (const shape of isOfDomain ? targetShapes(rateLimit, memo) : []) add(shape);
  }
  return [...shapes.values()];
}

function defaultShape({ defaults, key }: Labelling, memo: Memo): GroupShape {
  return memo.of(memo, 'default label shape', [key], () => toShape(defaults, 'the default labels'));
}

function shapesOf(
  { spec, namespace, name }: Resource<'Mapping'>,
  labelling: Labelling,
  memo: Memo,
) {
  return memo.of(spec, 'label shapes', [namespace, name, labelling.key], () =>
    labelGroups(spec, labelling).map(group =>
      toShape(
        group.specifiers,
        `Mapping ${namespace}/${name}, group ${JSON.stringify(group.name)}`,
      ),
    ),
  );
}

/** A limit without targets has no labels of its own. */
function targetShapes(rateLimit: Resource<'RateLimit'>, memo: Memo): readonly GroupShape[] {
  const { namespace, name, spec } = rateLimit;
  if (spec.targetRefs === undefined) return [];
  return memo.of(rateLimit, 'label shapes', [], () =>
    spec.limits.map(({ labels }, index) =>
      toShape(labels, `RateLimit ${namespace}/${name}, ${limitField(rateLimit, index)}.labels`),
    ),
  );
}

function toShape(specifiers: readonly LabelSpecifier[], where: string): GroupShape {
  const labels = specifiers.map(toLabelShape);
  return { labels, where, key: JSON.stringify(labels) };
}

function toLabelShape(specifier: LabelSpecifier): LabelShape {
  switch (specifier.type) {
    case 'source_cluster':
      return { key: specifier.type, value: EDGE };
    case 'destination_cluster':
      return { key: specifier.type, form: 'cluster' };
    case 'remote_address':
      return { key: specifier.type, form: 'address' };
    case 'generic_key':
      return { key: specifier.type, value: specifier.value };
    case 'path':
    case 'request_header':
      return { key: specifier.key };
  }
}
