import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { problemOf } from '../problem-of.ts';

type Mapping = Resource<'Mapping'>;

/**
 * Returns the labels of requests that these Mappings share: in each domain those of the first
 * Mapping that has some. So no Mapping lifts the limits of another, whichever gives the rest.
 */
export function sharedLabels(mappings: readonly Mapping[]): MappingSpec['labels'] {
  return Object.fromEntries(
    [...givers(mappings)].map(([domain, { spec }]) => [domain, groupsOf(spec, domain)]),
  );
}

/** Returns a Problem of each of these Mappings that has other labels than the requests. */
export function sharedLabelProblems(mappings: readonly Mapping[]): readonly Problem[] {
  const all = [...givers(mappings)];
  return mappings.flatMap(mapping => {
    const overruled = all.find(
      ([domain, giver]) => meaning(mapping.spec, domain) !== meaning(giver.spec, domain),
    );
    if (overruled === undefined) return [];
    const [, { id }] = overruled;
    const message = `\`labels\` is that of ${id}, which matches the same requests: they share one route`;
    return [problemOf(mapping, 'warning', 'spec.labels', message)];
  });
}

/** Returns the first Mapping that has labels, by domain. */
function givers(mappings: readonly Mapping[]): ReadonlyMap<string, Mapping> {
  const first = new Map<string, Mapping>();
  for (const mapping of mappings)
    for (const [domain, groups] of Object.entries(mapping.spec.labels))
      if (groups.length > 0 && !first.has(domain)) first.set(domain, mapping);
  return first;
}

/** Returns a text without the names of the groups, which do not count. */
function meaning(spec: MappingSpec, domain: string): string {
  return JSON.stringify(groupsOf(spec, domain).map(({ specifiers }) => specifiers));
}

function groupsOf({ labels }: MappingSpec, domain: string) {
  return Object.hasOwn(labels, domain) ? (labels[domain] ?? []) : [];
}
