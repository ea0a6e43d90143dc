import type { LabelSpecifier } from '#resources/labels/label-specifier.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { hasKeys } from '../has-keys.ts';
import { keptFilter } from '../kept-lists.ts';
import { EDGE } from '../node-groups.ts';

/** Keys of labels by what they hold, sorted. */
export type LabelKeys = {
  /** The host of a request. */
  readonly hosts: readonly string[];
  /** Its path without query. */
  readonly paths: readonly string[];
  /** Its path with the query. */
  readonly targets: readonly string[];
  /** The list of addresses in `X-Forwarded-For`. */
  readonly forwarded: readonly string[];
};

/** The edge sets both to what the client sent as host. */
const HOST_HEADERS: ReadonlySet<string> = new Set([':authority', 'x-forwarded-host']);

export const NO_LABEL_KEYS: LabelKeys = { hosts: [], paths: [], targets: [], forwarded: [] };

/** Returns the keys of the labels of each label domain. */
export function labelKeys(resources: ResourceSet): ReadonlyMap<string, LabelKeys> {
  const specifiers = Map.groupBy(labelsByDomain(resources), ([domain]) => domain);
  return new Map(
    [...specifiers].map(([domain, ofDomain]) => {
      const all = ofDomain.flatMap(([, each]) => each);
      return [
        domain,
        {
          hosts: keys(all, isHost),
          paths: keys(all, isPath),
          targets: keys(all, isTarget),
          forwarded: keys(all, isForwarded),
        },
      ];
    }),
  );
}

function labelsByDomain(resources: ResourceSet): (readonly [string, readonly LabelSpecifier[]])[] {
  const defaults = Object.entries(resources.config.default_labels);
  const mappings = labelledMappings(resources.mappings).filter(
    ({ spec }) => spec.node_group === EDGE,
  );
  return [
    ...defaults.map(([domain, { defaults }]) => [domain, defaults] as const),
    ...mappings.flatMap(({ spec }) =>
      Object.entries(spec.labels).flatMap(([domain, groups]) =>
        groups.map(({ specifiers }) => [domain, specifiers] as const),
      ),
    ),
    ...resources.rateLimits.flatMap(({ spec }) =>
      spec.limits.map(({ labels }) => [spec.domain, labels] as const),
    ),
  ];
}

/** Returns the Mappings with labels. Most have none. */
export const labelledMappings = keptFilter(({ spec }: Resource<'Mapping'>) => hasKeys(spec.labels));

function keys(
  specifiers: readonly LabelSpecifier[],
  is: (specifier: LabelSpecifier) => boolean,
): readonly string[] {
  const found = specifiers.flatMap(specifier =>
    'key' in specifier && is(specifier) ? [specifier.key] : [],
  );
  return [...new Set(found)].sort();
}

export function isHost(specifier: LabelSpecifier): boolean {
  return specifier.type === 'request_header' && HOST_HEADERS.has(specifier.header);
}

export function isPath(specifier: LabelSpecifier): boolean {
  return specifier.type === 'path';
}

export function isTarget(specifier: LabelSpecifier): boolean {
  return specifier.type === 'request_header' && specifier.header === ':path';
}

function isForwarded(specifier: LabelSpecifier): boolean {
  return specifier.type === 'request_header' && specifier.header === 'x-forwarded-for';
}
