import { injectedBy } from '#resources/kinds/filter/injected-headers.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import { problemOf } from '../problem-of.ts';
import type { Labelling } from './labelling.ts';
import type { RemovedHeaders } from './stripped-match-problems.ts';
import { type LabelSources, writtenLabels } from './written-labels.ts';

/**
 * Returns a warning for each label of a header that is removed, and that no Filter sets again. No
 * request has its group, so that limits for it count nothing.
 */
export function strippedLabelProblems(
  sources: LabelSources & Pick<ResourceSet, 'filters'>,
  labelling: Labelling,
  { names, why }: RemovedHeaders,
): readonly Problem[] {
  if (names.length === 0) return [];
  const set = new Set(sources.filters.flatMap(injectedBy).map(headerIdentity));
  const absent = names.filter(name => !set.has(headerIdentity(name)));
  return writtenLabels(sources, labelling).flatMap(({ resource, field, group, before }) =>
    group.slice(before).flatMap(label => {
      if (label.type !== 'request_header' || !absent.includes(label.header)) return [];
      const effect = `no request has the label "${label.key}", nor the other labels of its group`;
      const message = `${why(label.header)}: ${effect}. Choose another header`;
      return [problemOf(resource, 'warning', field, message)];
    }),
  );
}
